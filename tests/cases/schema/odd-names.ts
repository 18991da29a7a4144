type t = {
    "has-dash"?: string;
    ""?: string;
    "1st"?: string;
    "q\"uote\\"?: string;
    "line\u2028\n"?: string;
    "日本"?: string;
};
