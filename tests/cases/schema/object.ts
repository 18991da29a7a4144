type t = {
    /** Row */
    id: number;
    tags?: string[];
};
