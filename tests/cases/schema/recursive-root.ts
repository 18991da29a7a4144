type t = {
    children?: t[];
    name: string;
};
