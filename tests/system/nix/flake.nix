# SPDX-License-Identifier: MIT
# The package set of the tests' in the place of nixpkgs; world.json says what pkgs.nix wants to know.
{
  outputs =
    { self }:
    {
      legacyPackages.x86_64-linux = import ./pkgs.nix (builtins.fromJSON (builtins.readFile ./world.json));
    };
}
