# SPDX-License-Identifier: MIT
# mkSandbox: a launcher that starts 'wrapix run' with a configuration in the store. The options are the keys of
# wrapix.json, as data/schema/wrapix.schema.json has them, and those that only Nix has. Values reach the program as
# JSON in files; nothing but store paths is ever put into the launcher's text.
{
  pkgs,
  wrapix,
  profiles,
}:
let
  inherit (builtins)
    attrNames
    concatMap
    concatStringsSep
    elem
    filter
    isAttrs
    isString
    listToAttrs
    match
    readDir
    readFile
    removeAttrs
    ;
  config = import ./json.nix (readFile ../data/schema/wrapix.schema.json);
  check = import ./schema.nix config."$defs";

  # What only Nix has: the program's name, packages whose programs are on PATH inside, wrapix itself. Beside that,
  # a profile may be a set, and an agent a package.
  ours = {
    type = "object";
    properties = {
      name = config."$defs".keyName;
      inherit (profiles.schemas) packages;
      wrapix = profiles.schemas.package;
    };
  };
  ourKeys = attrNames ours.properties;
  # What others call what we have.
  renamed = {
    cpus = "limits.cpus";
    memoryMb = "limits.memory, as \"4G\"";
    networkAllowlist = "network.allow";
    mcp = "packages, and the agent's own settings";
    model = "env.ANTHROPIC_MODEL";
  };
  options = filter (key: key != "$schema") (attrNames (config.properties // ours.properties));

  text = name: value: pkgs.writeTextFile { inherit name; text = builtins.toJSON value; };
  quote = path: "'${builtins.replaceStrings [ "'" ] [ "'\\''" ] "${path}"}'";

  # The profile as a set.
  profileOf =
    value:
    if isString value then
      profiles.profiles.${value}
        or (throw "mkSandbox: profile: there is no \"${value}\"; there are ${concatStringsSep ", " (attrNames profiles.profiles)}")
    else if isAttrs value then
      profiles.empty // profiles.checkProfile "mkSandbox: profile" value
    else
      throw "mkSandbox: profile: must be a profile or the name of one";

  # Agents that wrapix knows how to start are looked up on PATH by their own names.
  known = listToAttrs (
    map
      (file: {
        name = (import ./json.nix (readFile (../data/agents + "/${file}"))).program;
        value = builtins.head (match "(.*)[.]json" file);
      })
      (filter (file: match ".*[.]json" file != null) (attrNames (readDir ../data/agents)))
  );
  agentOf =
    value:
    if !(isAttrs value && value ? outPath) then
      { name = value; path = null; }
    else
      let
        program = value.meta.mainProgram or value.pname or (builtins.parseDrvName value.name).name;
        bin = "${value.bin or value}/bin";
      in
      {
        name = known.${program} or "${bin}/${program}";
        path = bin;
      };

  # Where the sandbox looks for programs when nothing says otherwise: src/plan/env.c.
  defaultPath = "/opt/wrapix/bin:/home/wrapix/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";
  environment =
    packages: env:
    let
      bins = map (p: "${p.bin or p}/bin") packages;
      path = env.PATH or defaultPath;
      devs = concatMap (p: if p ? dev then [ "${p.dev}/lib/pkgconfig" ] else [ ]) packages;
    in
    (if devs == [ ] then { } else { PKG_CONFIG_PATH = concatStringsSep ":" devs; })
    // env
    // (
      if bins == [ ] then
        { }
      else if path == null then
        throw "mkSandbox: env.PATH: cannot be null beside packages"
      else
        { PATH = concatStringsSep ":" (bins ++ [ path ]); }
    );

  launcher =
    name: wrapix: configuration: agent:
    pkgs.writeTextFile {
      inherit name;
      destination = "/bin/${name}";
      executable = true;
      text = ''
        #!${pkgs.runtimeShell}
        # ${name} [run | plan] [DIR/] [options] [-- CMD...]: a sandbox as it was described in Nix.
        # Other commands of wrapix go to wrapix.
        wrapix=${quote "${wrapix}/bin/wrapix"}
        case ''${1-} in
        run | plan) command=$1; shift ;;
        -h | --help | --version) exec "$wrapix" "$@" ;;
        "" | -* | */* | . | ..) command=run ;;
        *) exec "$wrapix" "$@" ;;
        esac
        ${if agent.path == null then "" else "export PATH=${quote agent.path}\${PATH:+:$PATH}"}
        exec "$wrapix" "$command" --config ${quote configuration} "$@"
      '';
    };

  mkSandbox =
    args0:
    let
      # null is what was not said.
      args = removeAttrs args0 (filter (key: args0.${key} == null) (attrNames args0));
      unknown = filter (key: !(elem key options)) (attrNames args);
      first = builtins.head unknown;

      own = check "mkSandbox" ours (
        {
          name = "wrapix";
          packages = [ ];
          inherit wrapix;
        }
        // builtins.intersectAttrs ours.properties args
      );
      inherit (own) name;
      profile = profileOf (args.profile or profiles.profiles.base);
      packages = profile.packages ++ own.packages;
      agent = agentOf (args.agent or null);

      # The program's own keys, in the program's own words.
      said =
        removeAttrs args (ourKeys ++ [ "profile" ])
        // (if args ? agent then { agent = agent.name; } else { });
      checked = check "mkSandbox" (removeAttrs config [ "required" ]) said;
      profileFile = text "${name}-profile.json" (
        removeAttrs profile [ "name" "packages" ]
      );
      configuration = checked // {
        profile = profileFile;
        env = environment packages (profileEnv // checked.env or { });
      };
      # Of the profile's variables the configuration repeats only the one that it adds to.
      profileEnv = if profile.env ? PATH then { inherit (profile.env) PATH; } else { };

      program = launcher name own.wrapix (text "${name}.json" configuration) agent;
      image = import ./image.nix {
        inherit pkgs packages name profileFile;
        inherit (own) wrapix;
      };
    in
    if !(isAttrs args0) then
      throw "mkSandbox: must be given a set of options"
    else if unknown != [ ] then
      throw (
        "mkSandbox: ${first}: unknown option; "
        + (
          if renamed ? ${first} then
            "it is ${renamed.${first}} here"
          else
            "there are ${concatStringsSep ", " options}"
        )
      )
    else
      program
      // {
        inherit profile configuration;
        inherit (image) rootfs image;
        package = program;
        meta = {
          description = "A sandbox for an AI agent (${profile.name})";
          mainProgram = name;
        };
      };
in
{
  inherit mkSandbox options;
}
