# SPDX-License-Identifier: MIT
# What the NixOS and the home-manager module share: the options, and the packages that they come to.
{ config, lib, pkgs }:
let
  cfg = config.programs.wrapix;
  wrapix = import ./. {
    inherit pkgs;
    wrapix = cfg.package;
  };
in
{
  inherit cfg wrapix;

  options.programs.wrapix = {
    enable = lib.mkEnableOption "wrapix, sandboxes for AI agents";
    package = lib.mkOption {
      type = lib.types.package;
      default = pkgs.callPackage ./package.nix { };
      defaultText = "wrapix of this tree";
      description = "The package of wrapix.";
    };
    sandboxes = lib.mkOption {
      type = lib.types.attrsOf lib.types.attrs;
      default = { };
      example = { site.network = "none"; };
      description = "What mkSandbox takes, by name: NAME gives the program wrapix-NAME.";
    };
  };

  packages =
    [ cfg.package ]
    ++ map (name: wrapix.mkSandbox ({ name = "wrapix-${name}"; } // cfg.sandboxes.${name})) (
      builtins.attrNames cfg.sandboxes
    );
}
