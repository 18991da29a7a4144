type t = {
    a?: string;
} | null;
