# SPDX-License-Identifier: MIT
# The Nix side of wrapix: sandboxes as packages.
#
#   wrapix = import ./nix { inherit pkgs; };
#   wrapix.mkSandbox { profile = wrapix.profiles.rust; packages = [ pkgs.jq ]; network = "filtered"; }
#
# pkgs is nixpkgs, or anything with its writeTextFile, runCommand and runtimeShell.
{
  pkgs,
  wrapix ? pkgs.callPackage ./package.nix { },
}:
let
  profiles = import ./profiles.nix { inherit pkgs; };
  sandbox = import ./sandbox.nix { inherit pkgs wrapix profiles; };
in
if pkgs.stdenv.hostPlatform.isLinux then
  {
    inherit wrapix;
    inherit (sandbox) mkSandbox options;
    inherit (profiles) deriveProfile profiles;
  }
else
  throw "wrapix: there is no sandbox for ${pkgs.stdenv.hostPlatform.system}, only for Linux"
