/* SPDX-License-Identifier: MIT */
/* JSON values written as YAML, for files that people read and machines take. */
#pragma once

#include <json-c/json_object.h>

#include "base/str.h"

/* One document, without the '---' before it. What could be read as anything but the string that it is
 * stands in quotes, which are those of JSON. */
void yaml_add(struct str *out, struct json_object *value);
