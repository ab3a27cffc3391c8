# SPDX-License-Identifier: MIT
# A sandbox's packages as a root directory, and as an OCI image made of it by 'wrapix image build'.
{
  pkgs,
  wrapix,
  packages,
  name,
  profileFile,
}:
let
  rootfs =
    pkgs.runCommand "${name}-rootfs"
      {
        exportReferencesGraph = builtins.concatLists (
          builtins.genList (i: [ "closure-${toString i}" (builtins.elemAt packages i) ]) (builtins.length packages)
        );
        programs = map (p: p.bin or p) packages;
      }
      ''
        mkdir -p "$out${builtins.storeDir}" "$out/usr/bin" "$out/etc/ssl/certs"
        ln -s usr/bin "$out/bin"
        # Each record: the path, what derived it, how many paths it refers to, and those.
        for closure in closure-*; do
          [ -e "$closure" ] || continue
          while read -r path; do
            read -r deriver
            read -r count
            while [ "$count" -gt 0 ]; do
              read -r reference
              count=$((count - 1))
            done
            [ -e "$out$path" ] || cp -a "$path" "$out$path"
          done <"$closure"
        done
        # The first package that has a program or the certificates wins, as on PATH.
        for package in $programs; do
          for program in "$package"/bin/*; do
            [ -e "$program" ] && [ ! -e "$out/usr/bin/''${program##*/}" ] && ln -s "$program" "$out/usr/bin/"
          done
          bundle=$package/etc/ssl/certs/ca-bundle.crt
          [ ! -e "$bundle" ] || ln -sf "$bundle" "$out/etc/ssl/certs/ca-certificates.crt"
        done
      '';
in
{
  inherit rootfs;
  image = pkgs.runCommand "${name}-image"
    {
      inherit wrapix rootfs;
      profile = profileFile;
      called = name;
    }
    ''
      export HOME="$PWD" XDG_CACHE_HOME="$PWD/cache"
      "$wrapix/bin/wrapix" image build "$profile" --from "rootfs:$rootfs" --name "$called" -o "$out"
    '';
}
