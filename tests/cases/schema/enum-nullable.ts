type t = "asc" | "desc" | null;
