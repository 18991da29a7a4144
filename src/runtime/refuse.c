/* Why a call is refused, in words that let a model go on: what was wrong, and what there is instead. */
#include "base/names.h"
#include "runtime/internal.h"

/** "unknown connector 'gihub'. Did you mean 'github'? The program's connectors are: …" */
static void refuse_connector(struct rt_call *c)
{
    const cm_runtime *rt = c->e->rt;
    cm_autobuf text = CM_BUF_INIT(2048);
    const char *best = NULL;
    unsigned best_distance = 3;

    if (cm_z_eq(c->connector, "fetch")) {
        rt_call_fail(
            c, CM_CALL_FAILED, cm_refusal_code(CM_REFUSAL_UNKNOWN_CONNECTOR),
            "fetch is off: the configuration names no host that programs may reach (codemode.fetch, e.g. "
            "[\"api.example.com\"]). Use a connector, or tell the user.");
        return;
    }
    for (size_t i = 0; i < rt->o.n_connectors; i++) {
        const char *name = cm_connector_name(rt->o.connectors[i]);
        unsigned d = cm_name_distance(cm_str_of(name), cm_str_of(c->connector));

        if (d < best_distance) {
            best = name;
            best_distance = d;
        }
        if (text.len < 1024)
            cm_buf_addf(&text, "%s%s", i ? ", " : "", name);
        else if (i + 1 == rt->o.n_connectors)
            cm_buf_add_z(&text, ", …");
    }
    rt_call_fail(c, CM_CALL_FAILED, cm_refusal_code(CM_REFUSAL_UNKNOWN_CONNECTOR),
                 "There is no connector '%s'.%s%s%s The connectors here are: %s.", c->connector,
                 best ? " Did you mean '" : "", best ? best : "", best ? "'?" : "",
                 rt->o.n_connectors ? cm_buf_str(&text).ptr : "none");
}

void rt_call_refuse(struct rt_call *c, const struct cm_call_decision *d, const struct cm_err *why)
{
    const char *code = cm_refusal_code(d->refusal);

    switch (d->refusal) {
    case CM_REFUSAL_UNKNOWN_CONNECTOR:
        refuse_connector(c);
        return;
    case CM_REFUSAL_UNKNOWN_METHOD: {
        cm_autofree char *text = cm_connector_unknown(c->conn, cm_str_of(c->method));

        rt_call_fail(c, CM_CALL_FAILED, code, "%s", text);
        return;
    }
    case CM_REFUSAL_UNAVAILABLE:
        rt_call_fail(c, CM_CALL_FAILED, code, "%s", cm_connector_error(c->conn));
        return;
    case CM_REFUSAL_DENIED:
        rt_call_fail(c, CM_CALL_FAILED, code,
                     "%s.%s is denied by %s. It was not called; do without it, or tell the user.",
                     c->connector, c->method, d->rule);
        return;
    case CM_REFUSAL_INVALID_ARGUMENTS:
        rt_call_fail(c, CM_CALL_FAILED,
                     why->status == CM_E_LIMIT    ? RT_ARGUMENTS_LIMIT
                     : why->status == CM_E_DENIED ? cm_refusal_code(CM_REFUSAL_DENIED)
                                                  : code,
                     "%s.%s: %s", c->connector, c->method, why->message);
        return;
    case CM_REFUSAL_COUNT_:
        break;
    }
}
