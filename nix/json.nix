# SPDX-License-Identifier: MIT
# JSON with comments, as wrapix reads it: // to the end of the line, and /* */. Strings are left alone.
text:
let
  string = ''"([^"\\]|\\.)*"'';
  comment = "//[^\n]*|/[*]([^*]|[*]+[^*/])*[*]+/";
  keep =
    part:
    if builtins.isString part then
      part
    else
      let
        word = builtins.head part;
      in
      if builtins.substring 0 1 word == "\"" then word else " ";
in
builtins.fromJSON (builtins.concatStringsSep "" (map keep (builtins.split "(${string}|${comment})" text)))
