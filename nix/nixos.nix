# SPDX-License-Identifier: MIT
# NixOS: programs.wrapix.enable, and sandboxes for every user of the machine.
{ config, lib, pkgs, ... }:
let
  shared = import ./module.nix { inherit config lib pkgs; };
in
{
  inherit (shared) options;
  config = lib.mkIf shared.cfg.enable { environment.systemPackages = shared.packages; };
}
