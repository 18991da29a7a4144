type t = {
    type: string;
    items?: string[];
    $ref?: string;
    properties?: {
        enum?: number;
    };
    required?: boolean;
    description?: string;
    const?: string;
    nullable?: boolean;
    new: string;
    readonly?: string;
    get?: string;
    constructor?: string;
    __proto__?: string;
};
