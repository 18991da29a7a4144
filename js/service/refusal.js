// A program that is not run, and why: for whoever wrote it.
export class Refusal extends Error {
    constructor(message, pos, code) {
        super(message);
        this.pos = pos;
        this.code = code;
    }
}
