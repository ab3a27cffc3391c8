# SPDX-License-Identifier: MIT
# As much of the module system as one module alone needs: the defaults of the options below what was configured.
{ pkgs }:
let
  lib = pkgs.lib // {
    mkOption = option: option // { isOption = true; };
    mkEnableOption = description: {
      isOption = true;
      default = false;
      inherit description;
    };
    mkIf = condition: value: if condition then value else { };
    types = {
      package = "package";
      attrs = "attrs";
      attrsOf = type: "attrs of ${type}";
    };
  };
in
file: given:
let
  module = import file {
    inherit pkgs lib;
    config.programs.wrapix = builtins.mapAttrs (name: option: given.${name} or option.default) (
      module.options.programs.wrapix
    );
  };
in
module
