#include "common/measure/params_json.h"

#include "common/core/json_file.h"

json_t *params_json(const struct algorithm *algorithm, const void *params)
{
    json_t *object = json_object();

    for (const struct parameter *p = algorithm->parameters; p && p->name; p++) {
        const char *field = (const char *)params + p->offset;
        json_t *value = NULL;

        switch (p->kind) {
        case PARAMETER_INT:
            value = json_integer(*(const int *)field);
            break;
        case PARAMETER_REAL:
            value = json_real(*(const double *)field);
            break;
        case PARAMETER_CHOICE:
            value = json_string(p->words[*(const int *)field]);
            break;
        case PARAMETER_TEXT:
            value = json_plain(field);
            break;
        case PARAMETER_MODEL:
            value = json_plain(((const struct model *)field)->path);
            break;
        }
        json_object_set_new(object, p->name, value);
    }
    return object;
}
