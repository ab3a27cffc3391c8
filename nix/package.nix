# SPDX-License-Identifier: MIT
# wrapix itself, for nixpkgs' callPackage.
{
  lib,
  stdenv,
  meson,
  ninja,
  pkg-config,
  makeWrapper,
  json-c,
  sqlite,
  libarchive,
  libseccomp,
  openssl,
  systemd,
  zlib,
  zstd,
  git,
  openssh,
  passt,
}:
stdenv.mkDerivation {
  pname = "wrapix";
  version = builtins.head (
    builtins.match ".*[ \n]version: '([0-9.]+)',.*" (builtins.readFile ../meson.build)
  );

  src = builtins.path {
    name = "wrapix-source";
    path = ../.;
    filter =
      path: type:
      let
        name = baseNameOf path;
      in
      !(builtins.elem name [ ".git" "result" ] || (type == "directory" && builtins.match "build(-.*)?" name != null));
  };

  strictDeps = true;
  nativeBuildInputs = [ meson ninja pkg-config makeWrapper libseccomp ];
  buildInputs = [ json-c libarchive libseccomp openssl sqlite systemd zlib zstd ];

  # They start sandboxes, which a Nix build is none too happy with.
  doCheck = false;

  # libcrypto is loaded by name when a key is first used; pasta, git and ssh are looked up on PATH. srt takes what its user has there,
  # as its commands do, and starts without a shell before it.
  postFixup = ''
    for program in ralph wrapix wrapix-builder; do
      patchelf --add-rpath ${lib.makeLibraryPath [ openssl ]} $out/bin/$program
      wrapProgram $out/bin/$program --inherit-argv0 --suffix PATH : ${lib.makeBinPath [ passt git openssh ]}
    done
  '';

  meta = {
    description = "A sandbox of its own for an AI agent, without root, daemon or image";
    license = lib.licenses.mit;
    platforms = lib.platforms.linux;
    mainProgram = "wrapix";
  };
}
