# SPDX-License-Identifier: MIT
# home-manager: the same, and the user's own config.json and profiles, checked when they are evaluated.
{ config, lib, pkgs, ... }:
let
  shared = import ./module.nix { inherit config lib pkgs; };
  inherit (shared) cfg;
  schema = import ./json.nix (builtins.readFile ../data/schema/wrapix.schema.json);
  check = import ./schema.nix schema."$defs";
  json = value: { text = builtins.toJSON value; };
  profileFiles = builtins.listToAttrs (
    map (name: {
      name = "wrapix/profiles/${name}.json";
      value = json cfg.profiles.${name};
    }) (builtins.attrNames cfg.profiles)
  );
in
{
  options.programs.wrapix = shared.options.programs.wrapix // {
    settings = lib.mkOption {
      type = lib.types.attrs;
      default = { };
      example = { network = "filtered"; };
      description = "The keys of wrapix.json, for all projects: ~/.config/wrapix/config.json.";
    };
    profiles = lib.mkOption {
      type = lib.types.attrsOf lib.types.attrs;
      default = { };
      description = "Profiles by name, as files in ~/.config/wrapix/profiles; see wrapix.json(5).";
    };
  };
  config = lib.mkIf cfg.enable {
    home.packages = shared.packages;
    xdg.configFile =
      profileFiles
      // (
        if cfg.settings == { } then
          { }
        else
          { "wrapix/config.json" = json (check "programs.wrapix.settings" schema cfg.settings); }
      );
  };
}
