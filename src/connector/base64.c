#include "connector/base64.h"

#include "json/json.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void cm_base64_encode(struct cm_buf *out, struct cm_str bytes)
{
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        unsigned char in[3] = {0};
        memcpy(in, bytes.ptr + i, n);
        uint32_t w = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        char text[4] = {digits[w >> 18], digits[w >> 12 & 63], n > 1 ? digits[w >> 6 & 63] : '=',
                        n > 2 ? digits[w & 63] : '='};
        cm_buf_add(out, text, sizeof text);
    }
}

void cm_base64_decode(struct cm_buf *out, struct cm_str text)
{
    unsigned bits = 0, n = 0;

    for (size_t i = 0; i < text.len; i++) {
        const char *at = text.ptr[i] ? strchr(digits, text.ptr[i]) : NULL;
        if (!at)
            break;
        bits = bits << 6 | (unsigned)(at - digits);
        n += 6;
        if (n >= 8) {
            n -= 8;
            cm_buf_add_char(out, (char)(bits >> n & 0xff));
        }
    }
}

bool cm_value_is_bytes_at(struct cm_value v, const char *pointer)
{
    static const char *const kinds[] = {"bytes",    "arraybuffer", "int8",    "uint8c",  "int16",
                                        "uint16",   "int32",       "uint32",  "float32", "float64",
                                        "bigint64", "biguint64",   "dataview"};
    cm_auto(yyjson_doc) doc = NULL;

    if (v.marks.len < 3 || cm_json_parse(v.marks, CM_JSON_STRICT, &doc, NULL) != CM_OK)
        return false;
    const char *kind = cm_json_get_z(yyjson_doc_get_root(doc), pointer);
    for (size_t i = 0; kind && i < CM_ARRAY_LEN(kinds); i++)
        if (cm_z_eq(kind, kinds[i]))
            return true;
    return false;
}
