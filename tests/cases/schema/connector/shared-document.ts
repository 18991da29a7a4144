/** A pet */
type Pet = {
    name: string;
    friends?: Pet[];
};

declare const api: {
    /** Add */
    add(input: {
        pet: Pet;
    }): Promise<{
        name: string;
        friends?: Pet[];
    }>;

    /** Get */
    get(input: {
        id: string;
    }): Promise<{
        name: string;
        friends?: Pet[];
    }>;
};
