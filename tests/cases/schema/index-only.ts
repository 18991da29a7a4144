type t = {
    [key: string]: {
        v: string;
    };
};
