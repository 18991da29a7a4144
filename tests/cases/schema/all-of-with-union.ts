type t = ({
    a?: string;
} | {
    b?: string;
}) & {
    c: number;
};
