type t = {
    /** Mine */
    a?: Pet;
    b?: Pet | null;
    c?: Pet & {
        age: number;
    };
};
type Pet = {
    name: string;
};
