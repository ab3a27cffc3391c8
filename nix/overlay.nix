# SPDX-License-Identifier: MIT
# pkgs.wrapix, and pkgs.wrapixLib with mkSandbox, deriveProfile and profiles.
final: prev: {
  wrapix = final.callPackage ./package.nix { };
  wrapixLib = import ./. {
    pkgs = final;
    inherit (final) wrapix;
  };
}
