# SPDX-License-Identifier: MIT
# A package set of the tests' own, with the part of nixpkgs' interface that nix/ uses. Its packages are small scripts,
# and they are really built.
#
# program: the wrapix under test; tools: names of packages that say their own name.
{
  program,
  tools ? [ ],
  system ? builtins.currentSystem,
}:
let
  build =
    name: more: script:
    derivation (
      {
        inherit name system;
        builder = "/bin/sh";
        args = [ "-euc" script ];
        PATH = "/usr/bin:/bin";
      }
      // more
    )
    // {
      pname = name;
    };

  pkgs = {
    inherit system;
    runtimeShell = "/bin/sh";
    runCommand = build;
    writeTextFile =
      {
        name,
        text,
        destination ? "",
        executable ? false,
      }:
      build name
        {
          inherit text destination;
          mode = if executable then "0555" else "0444";
          passAsFile = [ "text" ];
        }
        ''
          mkdir -p "$(dirname "$out$destination")"
          cp "$textPath" "$out$destination"
          chmod "$mode" "$out$destination"
        '';
    # A package that is not here is its own name.
    callPackage =
      file: more:
      let
        function = import file;
      in
      function (builtins.mapAttrs (name: optional: pkgs.${name} or name) (builtins.functionArgs function) // more);

    # The package of wrapix is the program that was built already.
    wrapixUnderTest = build "wrapix" { } ''mkdir -p "$out/bin"; ln -s ${program} "$out/bin/wrapix"'';

    # A shell that needs nothing beside it, for images.
    busybox = build "busybox" { } ''
      mkdir -p "$out/bin"
      cp "$(command -v busybox)" "$out/bin/busybox"
      for name in sh cat echo id; do ln -s busybox "$out/bin/$name"; done
    '';

    # An agent that wrapix knows, and one that it does not.
    claude = tool "claude";
    other = tool "other-agent";
    # With an output for those who build with it, as libraries have.
    library = tool "library" // {
      dev = tool "library-dev";
    };

    # For package.nix, whose builder is nixpkgs': the arguments are what is looked at.
    stdenv = {
      hostPlatform = {
        inherit system;
        isLinux = true;
      };
      mkDerivation = arguments: build arguments.pname { } "exit 1" // { inherit arguments; };
    };
    lib = {
      makeLibraryPath = builtins.concatStringsSep ":";
      makeBinPath = builtins.concatStringsSep ":";
      licenses.mit = "MIT";
      platforms.linux = [ "x86_64-linux" ];
    };
  }
  // builtins.listToAttrs (
    map (name: {
      inherit name;
      value = tool name;
    }) tools
  );
  tool =
    name:
    build name { } ''
      mkdir -p "$out/bin"
      printf '#!/bin/sh\necho "${name} of Nix" "$@"\n' >"$out/bin/${name}"
      chmod 555 "$out/bin/${name}"
    '';
in
pkgs
