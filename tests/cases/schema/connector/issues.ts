/*
 * Work with issues.
 *
 * Use *\/ carefully.
 */
type Issue = {
    id: number;
    parent?: Issue;
};
type Issue2 = {
    key?: string;
};

declare const api: {
    /**
     * Create an issue. In a repository. *\/
     * Requires approval: the call waits until a person has approved it.
     * @param input.title - The title
     * @param input.labels - Names of labels
     */
    create_issue(input: {
        /** The title */
        title: string;
        /** Names of labels */
        labels?: string[];
        state?: "open" | "closed";
    }): Promise<Issue>;

    list(input?: {
        page?: number;
    }): Promise<unknown>;

    /** Ping */
    ping(input?: unknown): Promise<unknown>;

    /** Another Issue */
    other(input?: Record<string, unknown>): Promise<Issue2>;
};
