// DOMException as Web IDL has it: an Error whose name is chosen, with a number for the old names.
const codes = {
    __proto__: null,
    IndexSizeError: 1, HierarchyRequestError: 3, WrongDocumentError: 4, InvalidCharacterError: 5, NoModificationAllowedError: 7,
    NotFoundError: 8, NotSupportedError: 9, InUseAttributeError: 10, InvalidStateError: 11, SyntaxError: 12, InvalidModificationError: 13,
    NamespaceError: 14, InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18, NetworkError: 19, AbortError: 20,
    URLMismatchError: 21, QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24, DataCloneError: 25,
};

const constants = ('INDEX_SIZE_ERR DOMSTRING_SIZE_ERR HIERARCHY_REQUEST_ERR WRONG_DOCUMENT_ERR INVALID_CHARACTER_ERR NO_DATA_ALLOWED_ERR '
    + 'NO_MODIFICATION_ALLOWED_ERR NOT_FOUND_ERR NOT_SUPPORTED_ERR INUSE_ATTRIBUTE_ERR INVALID_STATE_ERR SYNTAX_ERR INVALID_MODIFICATION_ERR '
    + 'NAMESPACE_ERR INVALID_ACCESS_ERR VALIDATION_ERR TYPE_MISMATCH_ERR SECURITY_ERR NETWORK_ERR ABORT_ERR URL_MISMATCH_ERR '
    + 'QUOTA_EXCEEDED_ERR TIMEOUT_ERR INVALID_NODE_TYPE_ERR DATA_CLONE_ERR').split(' ');

export class DOMException extends Error {
    #name;

    constructor(message = '', options = 'Error') {
        super(`${message}`);
        const given = typeof options === 'object' && options !== null;
        this.#name = `${given ? options.name ?? 'Error' : options}`;
        if (given && 'cause' in options)
            Object.defineProperty(this, 'cause', { value: options.cause, writable: true, enumerable: false, configurable: true });
    }

    get name() {
        return this.#name;
    }

    get code() {
        return codes[this.#name] ?? 0;
    }

    static is(value) {
        return #name in value;
    }
}

export const isDOMException = DOMException.is;
delete DOMException.is;

for (const [i, name] of constants.entries()) {
    const constant = { value: i + 1, writable: false, enumerable: true, configurable: false };
    Object.defineProperty(DOMException, name, constant);
    Object.defineProperty(DOMException.prototype, name, constant);
}
for (const name of ['name', 'code'])
    Object.defineProperty(DOMException.prototype, name, { enumerable: true });
Object.defineProperty(DOMException.prototype, Symbol.toStringTag, { value: 'DOMException', configurable: true });
