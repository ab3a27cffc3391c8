# SPDX-License-Identifier: MIT
# Checks a value against a JSON Schema, as far as data/schema/wrapix.schema.json goes, and says what is wrong where.
# A package stands for the path of it, as everywhere in Nix; a path of Nix's own would be copied into the store
# without a word, and is refused.
#
#   check DEFINITIONS "mkSandbox" SCHEMA VALUE   the value, or an error such as
#   mkSandbox: limits.pids: must be a whole number (1 to 4194304) or a string that matches ^[0-9]+$, not true
# A schema of ours may say in "words" what it wants.
definitions:
let
  inherit (builtins)
    all
    attrNames
    concatLists
    concatStringsSep
    elem
    elemAt
    filter
    genList
    hasAttr
    head
    isAttrs
    isList
    isString
    length
    split
    stringLength
    substring
    toJSON
    toString
    typeOf
    ;

  resolve =
    schema:
    if schema ? "$ref" then
      resolve definitions.${substring 8 (stringLength schema."$ref") schema."$ref"} # behind "#/$defs/"
    else
      schema;

  isPackage = value: isAttrs value && value ? outPath;
  kindOf =
    value:
    if isPackage value then
      "string"
    else
      {
        int = "integer";
        float = "number";
        bool = "boolean";
        list = "array";
        set = "object";
      }
      .${typeOf value} or (typeOf value);
  kinds = schema: if isList (schema.type or [ ]) then schema.type or [ ] else [ schema.type ];
  hasKind =
    schema: value:
    let
      kind = kindOf value;
      want = kinds schema;
    in
    want == [ ] || elem kind want || (kind == "integer" && elem "number" want);

  # What the schema wants, in words.
  ends =
    schema:
    if schema ? minimum && schema ? maximum then
      " (${toString schema.minimum} to ${toString schema.maximum})"
    else if schema ? minimum then
      " (${toString schema.minimum} or more)"
    else
      "";
  kindWords =
    schema: kind:
    {
      string = if schema ? pattern then "a string that matches ${schema.pattern}" else "a string";
      integer = "a whole number" + ends schema;
      number = "a number" + ends schema;
      boolean = "true or false";
      array = "a list";
      object = "a set";
      null = "null";
    }
    .${kind};
  unique = list: builtins.foldl' (seen: x: if elem x seen then seen else seen ++ [ x ]) [ ] list;
  words =
    schema0:
    let
      schema = resolve schema0;
    in
    if schema ? words then
      [ schema.words ]
    else if schema ? anyOf then
      concatLists (map words schema.anyOf)
    else if schema ? enum then
      map toJSON schema.enum
    else
      map (kindWords schema) (kinds schema);
  wanted = schema: concatStringsSep " or " (unique (words schema));

  shown =
    value:
    if elem (typeOf value) [ "string" "int" "float" "bool" "null" ] then
      toJSON value
    else
      {
        list = "a list";
        set = if isPackage value then "the path of a package" else "a set";
        path = ''a path (write it as a string; "''${./x}" is a copy in the store)'';
        lambda = "a function";
      }
      .${typeOf value};
  wrong = where: schema: value: [ "${where}: must be ${wanted schema}, not ${shown value}" ];

  # Nix has POSIX's patterns, which know no backslash before a bracket.
  posix = builtins.replaceStrings [ "\\[" "\\]" ] [ "[[]" "[]]" ];
  matches = schema: text: !(schema ? pattern) || length (split (posix schema.pattern) text) > 1;
  join = where: key: if where == "" then key else "${where}.${key}";

  textIsGood =
    schema: value:
    let
      text = "${value}";
    in
    matches schema text
    && stringLength text >= schema.minLength or 0
    && stringLength text <= schema.maxLength or (stringLength text);
  numberIsGood = schema: value: value >= schema.minimum or value && value <= schema.maximum or value;

  listErrors =
    where: schema: value:
    concatLists (
      genList (i: errors "${where}[${toString i}]" schema.items (elemAt value i)) (length value)
    );

  setErrors =
    where: schema: value:
    let
      properties = schema.properties or { };
      others = schema.additionalProperties or { };
      known = attrNames properties;
      names = schema.propertyNames or { };
      nameIsGood =
        key: matches names key && !(elem key (names.not.enum or [ ]));
      one =
        key:
        if hasAttr key properties then
          errors (join where key) properties.${key} value.${key}
        else if others == false then
          [ "${join where key}: unknown; there are ${concatStringsSep ", " (filter (k: k != "$schema") known)}" ]
        else if !(nameIsGood key) then
          [ "${join where key}: cannot have this name" ]
        else
          errors (join where key) others value.${key};
      missing = filter (key: !(hasAttr key value)) (schema.required or [ ]);
    in
    map (key: "${join where key}: must be given") missing ++ concatLists (map one (attrNames value));

  # Of several forms, the one of the value's kind has the most to say.
  anyErrors =
    where: schema: value:
    let
      forms = map resolve schema.anyOf;
      found = map (form: errors where form value) forms;
      near = filter (form: elem (kindOf value) (kinds form)) forms;
    in
    if elem [ ] found then
      [ ]
    else if near != [ ] && elem (kindOf value) [ "object" "array" ] then
      errors where (head near) value
    else
      wrong where schema value;

  errors =
    where: schema0: value:
    let
      schema = resolve schema0;
      kind = kindOf value;
      good =
        if schema ? enum then
          elem value schema.enum
        else if !(hasKind schema value) then
          false
        else if kind == "string" then
          textIsGood schema value
        else if kind == "integer" || kind == "number" then
          numberIsGood schema value
        else
          true;
    in
    if schema ? anyOf then
      anyErrors where schema value
    else if !good then
      wrong where schema value
    else if kind == "array" then
      listErrors where schema value
    else if kind == "object" then
      setErrors where schema value
    else
      [ ];
in
who: schema: value:
let
  found = errors "" schema value;
in
if found == [ ] then value else throw "${who}: ${head found}"
