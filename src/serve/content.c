/*
 * Images in a result. In JSON they are base64, which a model cannot see and pays for by the character: each becomes a content block
 * of its own, and {"$content": N} stands in its place, both in the text and in the structured content. A program's own key of that
 * name would have two of these signs (json/value.h), so no data can be taken for it.
 */
#include "serve/serve.h"

/* More are left as bytes: clients pass each of them to a model. */
#define IMAGES_MAX 10

struct image {
    struct cm_str base64;
    const char *type;
};

struct images {
    struct image v[IMAGES_MAX];
    size_t n;
};

/**
 * The type that the first bytes say, NULL for none that models take. What a program calls them does not count: an image of a wrong
 * type, or none at all, makes a client's next request fail.
 */
static const char *image_type(struct cm_str base64)
{
    static const struct {
        const char *front;
        const char *type;
    } types[] = {
        {"iVBORw0KGgo", "image/png"}, /* 89 "PNG" 0D 0A 1A 0A */
        {"/9j/", "image/jpeg"},       /* FF D8 FF */
        {"R0lGODdh", "image/gif"},    /* "GIF87a" */
        {"R0lGODlh", "image/gif"},    /* "GIF89a" */
    };

    for (size_t i = 0; i < CM_ARRAY_LEN(types); i++)
        if (cm_str_has_prefix(base64, cm_str_of(types[i].front)))
            return types[i].type;
    /* "RIFF", four bytes of length, "WEBP" */
    if (base64.len > 16 && memcmp(base64.ptr, "UklGR", 5) == 0 && memcmp(base64.ptr + 11, "XRUJQ", 5) == 0)
        return "image/webp";
    return NULL;
}

/** The image's number among the blocks, 0 for none. New ones are taken while `may_add`. */
static uint64_t number_of(struct images *images, struct cm_str base64, bool may_add)
{
    const char *type = image_type(base64);
    size_t i = 0;

    if (!type)
        return 0;
    while (i < images->n && !cm_str_eq(images->v[i].base64, base64))
        i++;
    if (i == images->n) {
        if (!may_add || i == IMAGES_MAX)
            return 0;
        images->v[images->n++] = (struct image){base64, type};
    }
    return i + 1; /* behind the text, which is block 0 */
}

static void take_images(struct images *images, yyjson_mut_doc *doc, yyjson_mut_val *v, bool may_add)
{
    yyjson_mut_val *bytes = yyjson_mut_obj_get(v, "$bytes");
    size_t i, max;
    yyjson_mut_val *key, *item;

    if (yyjson_mut_is_str(bytes) && yyjson_mut_obj_size(v) == 1) {
        uint64_t n =
            number_of(images, cm_str_mk(yyjson_mut_get_str(bytes), yyjson_mut_get_len(bytes)), may_add);

        if (n > 0 && yyjson_mut_obj_clear(v))
            (void)yyjson_mut_obj_add_uint(doc, v, "$content", n);
        return;
    }
    if (yyjson_mut_is_obj(v)) {
        yyjson_mut_obj_foreach(v, i, max, key, item)
        {
            take_images(images, doc, item, may_add);
        }
    }
    yyjson_mut_arr_foreach(v, i, max, item)
    {
        take_images(images, doc, item, may_add);
    }
}

static void write_blocks(const struct images *images, struct cm_buf *blocks)
{
    for (size_t i = 0; i < images->n; i++) {
        cm_buf_addf(blocks, "%s{\"type\":\"image\",\"mimeType\":\"%s\",\"data\":\"", i ? "," : "",
                    images->v[i].type);
        cm_buf_add_str(blocks, images->v[i].base64);
        cm_buf_add_z(blocks, "\"}");
    }
}

void cm_serve__images(struct cm_str outcome, struct cm_buf *shown, struct cm_buf *blocks)
{
    cm_auto(yyjson_doc) doc = NULL;
    cm_auto(yyjson_mut_doc) copy = NULL;
    struct images images = {.n = 0};
    yyjson_mut_val *root;
    size_t len = 0;

    /* Most outcomes have none, and are not read again to find that out. What was cut is no image any more. */
    if (!memmem(outcome.ptr, outcome.len, "\"$bytes\"", 8) ||
        cm_json_parse(outcome, CM_JSON_BIGNUM, &doc, NULL) != CM_OK)
        return;
    copy = yyjson_doc_mut_copy(doc, NULL);
    root = yyjson_mut_doc_get_root(copy);
    if (!root || yyjson_mut_obj_get(yyjson_mut_obj_get(root, "truncated"), "at"))
        return;
    take_images(&images, copy, yyjson_mut_obj_get(root, "result"), true);
    if (images.n == 0)
        return;
    take_images(&images, copy, yyjson_mut_obj_get(root, "calls"), false);
    cm_autofree char *text = yyjson_mut_write(copy, 0, &len);
    if (!text)
        return;
    cm_buf_add(shown, text, len);
    write_blocks(&images, blocks);
}
