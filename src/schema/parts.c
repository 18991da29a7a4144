/* Parts of a type: texts with how they bind, joined by | or & with parentheses exactly where they must be. */
#include "schema/internal.h"

struct cm_schema__type cm_schema__write_unknown(struct cm_buf *out)
{
    cm_buf_add_z(out, "unknown");
    return (struct cm_schema__type){.prec = PREC_ATOM, .unknown = true, .null = true};
}

struct cm_schema__type cm_schema__write_atom(struct cm_buf *out, const char *text)
{
    cm_buf_add_z(out, text);
    return (struct cm_schema__type){.prec = PREC_ATOM, .null = strcmp(text, "null") == 0};
}

struct cm_buf cm_schema__new_text(void)
{
    return CM_BUF_INIT(CM_SCHEMA_TYPE_MAX_BYTES * 4);
}

void cm_schema__parts_done(struct cm_schema__parts *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i].text);
    free(p->v);
}

/* Takes the text unless the same stands there already. */
void cm_schema__parts_add(struct cm_schema__parts *p, struct cm_buf *text, struct cm_schema__type type)
{
    struct cm_str s = cm_buf_str(text);
    bool failed = text->failed;

    for (size_t i = 0; i < p->n; i++) {
        if (!failed && cm_str_eq(s, cm_str_mk(p->v[i].text, p->v[i].len))) {
            cm_buf_done(text);
            return;
        }
    }
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 8;
        p->v = cm_realloc(p->v, p->cap * sizeof *p->v);
    }
    struct cm_schema__part *part = &p->v[p->n++];
    part->type = type;
    part->text = cm_buf_take(text, &part->len);
    if (failed) {
        free(part->text);
        *part = (struct cm_schema__part){
            cm_strdup("unknown"), 7, {.prec = PREC_ATOM, .unknown = true, .null = true}};
    }
}

void cm_schema__parts_add_z(struct cm_schema__parts *p, const char *word)
{
    struct cm_buf text = cm_schema__new_text();
    struct cm_schema__type type =
        strcmp(word, "unknown") == 0 ? cm_schema__write_unknown(&text) : cm_schema__write_atom(&text, word);

    cm_schema__parts_add(p, &text, type);
}

void cm_schema__parts_drop(struct cm_schema__parts *p, size_t i)
{
    free(p->v[i].text);
    memmove(&p->v[i], &p->v[i + 1], (p->n - i - 1) * sizeof *p->v);
    p->n--;
}

/* Write the parts with an operator between them. */
struct cm_schema__type cm_schema__parts_join(struct cm_schema__parts *p, enum cm_schema__prec prec,
                                             struct cm_buf *out)
{
    bool is_union = prec == PREC_UNION;
    struct cm_schema__type type = {.prec = prec, .literals = is_union, .null = !is_union};

    if (p->n == 0)
        return cm_schema__write_unknown(out);
    if (p->n == 1) {
        cm_buf_add(out, p->v[0].text, p->v[0].len);
        return p->v[0].type;
    }
    for (size_t i = 0; i < p->n; i++) {
        struct cm_schema__part *part = &p->v[i];
        bool wrap = part->type.prec < PREC_ATOM && part->type.prec != prec;
        cm_buf_add_z(out, i == 0 ? "" : is_union ? " | " : " & ");
        cm_buf_add_z(out, wrap ? "(" : "");
        cm_buf_add(out, part->text, part->len);
        cm_buf_add_z(out, wrap ? ")" : "");
        type.unknown = type.unknown || part->type.unknown;
        type.literals = is_union && type.literals && part->type.literals;
        type.null = is_union ? type.null || part->type.null : type.null && part->type.null;
    }
    return type;
}

void cm_schema__parts_drop_unknown(struct cm_schema__parts *p)
{
    bool known = false;

    for (size_t i = 0; i < p->n; i++)
        known = known || !p->v[i].type.unknown;
    for (size_t i = p->n; known && i-- > 0;)
        if (p->v[i].type.unknown)
            cm_schema__parts_drop(p, i);
}

void cm_schema__parts_keep_never(struct cm_schema__parts *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->v[i].text, "never") != 0)
            continue;
        while (p->n > i + 1)
            cm_schema__parts_drop(p, p->n - 1);
        while (p->n > 1)
            cm_schema__parts_drop(p, 0);
        return;
    }
}
