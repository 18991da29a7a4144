type t = Record<string, unknown>;
