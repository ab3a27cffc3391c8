# SPDX-License-Identifier: MIT
# The profiles of data/profiles as sets, and profiles that build on them. In Nix a profile's packages are a list of
# packages; all else has the keys that the file of a profile has.
{ pkgs }:
let
  inherit (builtins)
    attrNames
    listToAttrs
    match
    readDir
    readFile
    removeAttrs
    ;
  config = import ./json.nix (readFile ../data/schema/wrapix.schema.json);
  check = import ./schema.nix config."$defs";
  strings = {
    type = "array";
    items.type = "string";
  };

  package = {
    type = "string"; # a package stands for its path
    words = "a package";
  };
  packages = {
    type = "array";
    items = package;
  };
  schema = {
    type = "object";
    additionalProperties = false;
    properties = {
      name.type = "string";
      description.type = "string";
      inherit (config.properties) env mounts;
      inherit packages;
      writable = strings;
      domains = strings;
      registries = strings;
      checks = strings;
    };
  };
  checkProfile = who: check who schema;

  empty = {
    name = "profile";
    description = "";
    packages = [ ];
    env = { };
    mounts = [ ];
    writable = [ ];
    domains = [ ];
    registries = [ ];
    checks = [ ];
  };

  # Lists are joined, of two variables the younger counts, names are replaced: as in 'wrapix profile'.
  derive =
    base: more:
    let
      join = key: { ${key} = base.${key} ++ more.${key} or [ ]; };
    in
    base
    // more
    // { env = base.env // more.env or { }; }
    // join "packages"
    // join "mounts"
    // join "writable"
    // join "domains"
    // join "registries"
    // join "checks";

  find =
    profile: name:
    pkgs.${name} or (throw "profiles.${profile}: there is no package '${name}' in this nixpkgs");

  profiles = listToAttrs (
    map (
      file:
      let
        name = builtins.head (match "(.*)[.]json" file);
        data = import ./json.nix (readFile (../data/profiles + "/${file}"));
        own = removeAttrs data [ "extends" "$schema" ] // {
          inherit name;
          packages = map (find name) (data.packages.nix or [ ]);
        };
      in
      {
        inherit name;
        value = derive (if data ? extends then profiles.${data.extends} else empty) own;
      }
    ) (builtins.filter (file: match ".*[.]json" file != null) (attrNames (readDir ../data/profiles)))
  );
in
{
  inherit profiles checkProfile empty;
  schemas = { inherit package packages; };

  # deriveProfile profiles.rust { packages = [ pkgs.sqlx-cli ]; env.RUST_LOG = "debug"; }
  deriveProfile =
    base: more:
    derive (empty // checkProfile "deriveProfile: the profile to build on" base) (
      checkProfile "deriveProfile" more
    );
}
