#!/bin/sh
# SPDX-License-Identifier: MIT
# What the built program says: help, errors, exit statuses, completion scripts in real shells, and that the manual
# and the option tables agree. WRAPIX is the program under test (default: build/src/cli/wrapix). Prints TAP.
#
# shellcheck disable=SC1091,SC2154,SC2317 # the library; its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
out=$tmp/log/out err=$tmp/log/err
mkdir -p "$tmp/bin" "$tmp/dir/sub dir" "$tmp/dir/file"
export PATH="$tmp/bin:$PATH"
cd "$tmp/dir" || exit 1

# Nothing but lines of printable ASCII.
ascii() { [ -s "$1" ] && ! LC_ALL=C grep -n '[^ -~]' "$1"; }

# refuses 'MESSAGE' ARG...: exit 2, nothing on standard output, MESSAGE as the first line on standard error.
refused_with() {
	is "$rc" 2 && empty "$out" && is "$(head -n 1 "$err")" "wrapix: $1"
}
refuses() {
	message=$1
	shift
	wx "$@"
	check "refused: wrapix $*" refused_with "$message"
}
hint() { check "... with the hint: $1" has "$err" "hint: $1"; }

commands=$("$wrapix" help | sed -n '/^sandboxes:/,/^options:/s/^  \([a-z]*\) .*/\1/p')
check "there are commands to test" [ -n "$commands" ]

# --- help ---
helps() {
	is "$rc" 0 && empty "$err" && has "$out" "usage: wrapix" && has "$out" "examples:" &&
		is "$(tail -n 2 "$out" | head -n 1 | cut -c1-2)" "  "
}
narrow() { ! grep -E '^.{81,}' "$out" | grep -vE '^  (eval|wrapix) '; }
wx
check "wrapix alone prints help on standard output" helps
cp "$out" "$tmp/main"
for words in help --help -h; do
	wx $words
	check "wrapix $words prints the same" cmp "$tmp/main" "$out"
done
for c in $commands; do
	wx "$c" --help
	check "wrapix $c --help: usage, options, an example at the end" helps
	check "... within 80 columns" narrow
	check "... and the main help names it" has "$tmp/main" "  $c "
	cp "$out" "$tmp/help.$c"
	wx help "$c"
	check "... and wrapix help $c is the same" cmp "$tmp/help.$c" "$out"
	wx "$c" -h
	check "... and wrapix $c -h" cmp "$tmp/help.$c" "$out"
done
for words in version --version -V; do
	wx $words
	check "wrapix $words" grep -qxE 'wrapix [0-9]+\.[0-9]+\.[0-9]+' "$out"
	check "... exits with 0" is "$rc" 0
done
wx run --network none --help -- true
check "--help wins over what comes after it" cmp "$tmp/help.run" "$out"

# --- errors ---
refuses "unknown command 'rnu'; did you mean 'run'?" rnu
check "... in one line" lines "$err" 1
refuses "unknown command 'frobnicate'" frobnicate
hint "'wrapix help' lists the commands"
refuses "unknown command 'sub dir'" "sub dir"
hint "to start a sandbox there: wrapix run 'sub dir'"
refuses "unknown command '.'" .
hint "to start a sandbox there: wrapix run ."
refuses "unknown command '--'" --
refuses "unknown command ''" ""
refuses "unknown option '--verison'; did you mean '--version'?" --verison
refuses "unknown command 'doctr'; did you mean 'doctor'?" help doctr
refuses "unknown option '--netwrok'; did you mean '--network'?" run --netwrok none
check "... in one line" lines "$err" 1
refuses "unknown option '-network'; did you mean '--network'?" run -network none
refuses "unknown option '--frobnicate'" run --frobnicate
hint "--help lists the options"
refuses "unknown option '--json'" discard --json
hint "--help lists the options"
refuses "unknown option '--allow'" log --allow=example.com
hint "'wrapix run' has it"
refuses "unknown option '--violations'" run --violations
hint "'wrapix exec' has it"
refuses "unknown option '-x' in '-vx'" run -vx
refuses "option '--name' needs an argument: NAME" run --name
refuses "option '--name' needs an argument: NAME" run --name -- true
refuses "option '--only' takes no argument" run --only=yes
refuses "unexpected argument 'make'" run . make
hint "a command to run follows '--'"
refuses "no command after '--'" run --
refuses "unexpected argument 'x'" ps x
refuses "no completion for the shell 'tcsh'; there is one for bash, zsh and fish" completion tcsh
refuses "SHELL is missing" completion

# A value that the spec refuses is a usage error, too; the words are the spec's.
refused_value() { is "$rc" 2 && empty "$out" && grep -q "^wrapix: .*$1" "$err"; }
for pair in network=opne home=kep engine=natvie memory=lots cpus=-1 pids=many disk=x name=a/b env=1A= mount=x; do
	wx plan "--${pair%%=*}" "${pair#*=}"
	check "refused: --$pair" refused_value "${pair%%=*}"
done
wx plan --exec --engine apple -- true
check "plan --exec --engine apple: a Seatbelt profile" is "$(head -n 1 "$out")" "(version 1)"
check "... that is closed where it says nothing" grep -q '^(deny default' "$out"
wx plan --network opne
check "a wrong word is answered with the nearest" has "$err" "did you mean 'open'?"

# --- hostile text ---
esc=$(printf '\033')
for word in "${esc}[2J" "--${esc}]0;x" "-${esc}" "$(printf 'a\nhint: type this')" "$(printf 'a\rb')" "$(printf '\302\233m')" \
	"$(printf '\342\200\256x')" "$(printf '\377\376')"; do
	for c in "" run stop completion; do
		# shellcheck disable=SC2086 # no word when empty
		wx $c "$word" "$word"
		check "hostile text for '$c' is escaped" ascii "$err"
	done
	wx plan "./$word"
	check "hostile text as a directory is escaped" ascii "$err"
	wx plan --name="$word"
	check "hostile text as a value is escaped" ascii "$err"
done
wx "$(printf 'a\nhint: type this')"
check "a newline cannot make a line of ours" [ "$(grep -c '^hint:' "$err")" = 1 ]
check "... but is seen as a line that belongs to the word" has "$err" "  hint: type this"

# --- output ---
if [ -e /dev/full ]; then
	"$wrapix" version >/dev/full 2>"$err"
	check "a full standard output is an error" is $? 125
	check "... that says so" has "$err" "wrapix: writing to standard output: "
fi
"$wrapix" version >&- 2>"$err"
check "a closed standard output is an error" is $? 125
"$wrapix" rnu >&- 2>&-
check "closed standard error: the status still tells" is $? 2

# On a terminal there is colour, unless somebody objects.
if command -v script >/dev/null; then
	colour() { env "$@" script -qec "'$wrapix' rnu" /dev/null </dev/null 2>&1 | grep -q "$esc\["; }
	plain() { ! colour "$@"; }
	check "colour on a terminal" colour TERM=xterm
	check "none with NO_COLOR" plain TERM=xterm NO_COLOR=1
	check "an empty NO_COLOR does not count" colour TERM=xterm NO_COLOR=
	check "none with TERM=dumb" plain TERM=dumb
	wx rnu
	check "none in a file" ascii "$err"
else
	skip "colour on a terminal" "script(1) is not installed"
fi

# --- completion ---
# The scripts ask 'wrapix' on PATH for sessions, images and the script of 'image'; this one has two of each. Only the
# probe's name is certain to be unique.
cat >"$tmp/bin/wrapix" <<END
#!/bin/sh
case "\$*" in
"completion --sessions" | "image completion --sessions") printf 'alpha\nbeta\n' ;;
"image completion "*) exec "$wrapix" "\$@" ;;
esac
END
printf '#!/bin/sh\n' >"$tmp/bin/wrapixprobe"
chmod +x "$tmp/bin/wrapix" "$tmp/bin/wrapixprobe"
for shell in bash zsh fish; do
	wx completion $shell
	check "wrapix completion $shell" is "$rc" 0
	cp "$out" "$tmp/$shell"
	if ! command -v $shell >/dev/null; then
		skip "completion in $shell" "$shell is not installed"
		continue
	fi
	check "... is good $shell" $shell -n "$tmp/$shell"
	$shell "$here/completion.$shell" "$tmp/$shell" >"$out" 2>"$err" </dev/null
	check "... and loads and ends well" is $? 0
	check "... without a word on standard error" empty "$err"
	while read -r line; do
		check "$shell: $line" grep -qxF -- "$line" "$out"
	done <"$here/completion.$shell.want"
	check "... and nothing else was asked" is "$(grep -c . "$out")" "$(grep -c . "$here/completion.$shell.want")"
done

# --- the manual ---
# The heads of the options, as the help and as the manual's source write them: "-v, --verbose", "--name NAME".
help_heads() { sed -n '/^options:/,/^$/s/^ *\(-.*\)/\1/p' "$@" | sed 's/   *.*//' | sort -u; }
man_heads() { sed -n 's/^\.It \(Fl .*\)/\1/p' "$1" | sed 's/Fl Fl /--/g; s/Fl /-/g; s/ ,/,/g; s/ Ar / /g' | sort -u; }
page() { if [ -e "$top/man/wrapix-$1.1" ]; then echo "$top/man/wrapix-$1.1"; else echo "$top/man/wrapix.1"; fi; }
same_heads() { [ -s "$1" ] && diff "$1" "$2"; }
cp "$tmp/main" "$tmp/help.wrapix.1"
for c in $commands; do
	file=$(page "$c")
	help_heads "$tmp/help.$c" >"$tmp/heads"
	case $c in
	plan | export) # what they share with run is explained there
		help_heads "$tmp/help.run" | grep -vxF -e '-h, --help' -e '--image-ref REF' >"$tmp/shared"
		grep -vxFf "$tmp/shared" "$tmp/heads" >"$tmp/own"
		grep -vxF -e '--dry-run' -e '--resume SESSION' -e '--on PLACE' "$tmp/shared" |
			cat - "$tmp/own" | sort >"$tmp/all"
		check "$c takes what run takes, but for --dry-run, --resume and --on" same_heads "$tmp/all" "$tmp/heads"
		cp "$tmp/own" "$tmp/heads"
		;;
	esac
	if [ "$file" = "$top/man/wrapix.1" ]; then
		cat "$tmp/help.$c" >>"$tmp/help.wrapix.1"
		check "wrapix(1) explains $c" has "$file" ".It Cm $c"
		continue
	fi
	man_heads "$file" >"$tmp/manual"
	check "wrapix-$c(1) has the options of the program, and no others" same_heads "$tmp/heads" "$tmp/manual"
	check "... and wrapix(1) names it" has "$top/man/wrapix.1" ".Xr wrapix-$c 1"
done
help_heads "$tmp/help.wrapix.1" >"$tmp/heads"
man_heads "$top/man/wrapix.1" >"$tmp/manual"
check "wrapix(1) has the options of the program, and no others" same_heads "$tmp/heads" "$tmp/manual"
programs="notify notifyd relay builder" # of their own
for file in "$top"/man/wrapix-*.1; do
	c=${file##*/wrapix-}
	case " $programs " in *" ${c%.1} "*) continue ;; esac
	check "${file##*/} is about a command" grep -qx "${c%.1}" <<-END
		$commands
	END
done
# The programs of their own, against their pages.
notify=${wrapix%/cli/wrapix}/notify
for program in "$notify/wrapix-notify" "$notify/daemon/wrapix-notifyd"; do
	"$program" --help >"$tmp/help.program" 2>"$err"
	check "${program##*/} --help" empty "$err"
	help_heads "$tmp/help.program" >"$tmp/heads"
	man_heads "$top/man/${program##*/}.1" >"$tmp/manual"
	check "${program##*/}(1) has the options of the program, and no others" same_heads "$tmp/heads" "$tmp/manual"
done
# One with commands of its own: the options of all of them.
builder=${wrapix%/cli/wrapix}/builder/wrapix-builder
"$builder" help >"$tmp/help.program"
builder_commands=$(sed -n '/^the machine:/,/^options:/s/^  \([a-z]*\) .*/\1/p' "$tmp/help.program")
for c in $builder_commands; do
	[ "$c" = completion ] || "$builder" "$c" --help >>"$tmp/help.program"
	check "wrapix-builder(1) explains $c" grep -qE "^\.(It )?Cm $c( |\$)" "$top/man/wrapix-builder.1"
done
help_heads "$tmp/help.program" >"$tmp/heads"
man_heads "$top/man/wrapix-builder.1" >"$tmp/manual"
check "wrapix-builder(1) has the options of the program, and no others" same_heads "$tmp/heads" "$tmp/manual"
# wrapix.json(5) against the schema, which the reader of the file is tested against.
sed -n '/^\t"properties"/,/^\t}/s/^\t\t"\(.*\)": {$/\1/p' "$top/data/schema/wrapix.schema.json" | sort >"$tmp/heads"
sed -n '/^\.Ss Keys/,/^\.Ss/p' "$top/man/wrapix.json.5" |
	awk '/^\.Bl/ { deep++ } /^\.El/ { deep-- } /^\.It Cm/ && deep == 1 { print $3 }' | sort >"$tmp/manual"
check "wrapix.json(5) has the keys of the file, and no others" same_heads "$tmp/heads" "$tmp/manual"
if command -v mandoc >/dev/null; then
	for file in "$top"/man/*.[15]; do
		check "mandoc has nothing to say about ${file##*/}" is "$(mandoc -Tlint -Wwarning "$file" 2>&1)" ""
		for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" EXAMPLES "SEE ALSO"; do
			case ${file##*.}$section in 5SYNOPSIS | "5EXIT STATUS") continue ;; esac
			check "... which has $section" grep -qx "\.Sh $section" "$file"
		done
	done
else
	skip "the manual is good mdoc" "mandoc is not installed"
fi

finish
