# SPDX-License-Identifier: MIT
# The package set of the tests' in the place of nixpkgs.
{
  outputs =
    { self }:
    {
      legacyPackages.x86_64-linux = import ./pkgs.nix {
        program = "/bin/false";
        tools = builtins.fromJSON (builtins.readFile ./tools.json);
      };
    };
}
