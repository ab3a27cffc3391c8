# SPDX-License-Identifier: MIT
{
  description = "A sandbox of its own for an AI agent, on Linux";

  inputs.nixpkgs.url = "flake:nixpkgs";

  outputs =
    { self, nixpkgs }:
    let
      each =
        make:
        builtins.listToAttrs (
          map (system: {
            name = system;
            value = make system;
          }) [ "x86_64-linux" "aarch64-linux" ]
        );
      wrapix = each (system: import ./nix { pkgs = nixpkgs.legacyPackages.${system}; });
      # sandbox-rust and so on: the profiles as they are.
      sandboxes =
        of:
        builtins.listToAttrs (
          map (name: {
            name = "sandbox-${name}";
            value = of.mkSandbox { profile = name; };
          }) (builtins.attrNames of.profiles)
        );
    in
    {
      # wrapix.lib.x86_64-linux.mkSandbox { ... }
      lib = wrapix;
      packages = each (
        system:
        let
          of = wrapix.${system};
        in
        sandboxes of
        // {
          inherit (of) wrapix;
          default = of.mkSandbox { };
          sandbox = of.mkSandbox { };
        }
      );
      overlays.default = import ./nix/overlay.nix;
      nixosModules.default = import ./nix/nixos.nix;
      homeManagerModules.default = import ./nix/home-manager.nix;
    };
}
