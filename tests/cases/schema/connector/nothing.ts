declare const api: {};
