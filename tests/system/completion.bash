# SPDX-License-Identifier: MIT
# Completes lines with the script $1 as bash does; prints "LINE => CANDIDATES" for each.
# A real readline is used for what the shell itself completes (directories).
# shellcheck source=/dev/null
. "$1" || exit 1
[ "$(complete -p wrapix)" = "complete -F _wrapix wrapix" ] || exit 1

ask() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	local function=_wrapix
	[ "$1" = wrapix ] || function=_wrapix_$1
	$function "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s =>%s\n' "$*" "${COMPREPLY[0]:+ ${COMPREPLY[*]}}"
}
export WRAPIX_COMPLETION_TEST=1
ask wrapix r
ask wrapix --v
ask wrapix run --net
ask wrapix run --network ''
ask wrapix run --network = n
ask wrapix run -v --home k
ask wrapix run --profile ru
ask wrapix run --env WRAPIX_COMPLETION_T
ask wrapix run . -- wrapixpro
ask wrapix run . -- --net
ask wrapix plan --js
ask wrapix stop ''
ask wrapix stop alpha b
ask wrapix help tr
ask wrapix completion ''
ask wrapix image ''
ask wrapix image b
ask wrapix image build ''
ask wrapix image build --from
ask wrapix image build --compression z
ask wrapix image show ''
ask wrapix image load --into = p
ask wrapix key ''
ask wrapix key list ''
ask wrapix key --json a
ask wrapix secret get ''
ask wrapix profile show ru
ask wrapix git held ''
ask wrapix git held --
ask srt --viol
ask srt -- wrapixpro

# Typed at a prompt: 'wrapix' is a function there that shows its words.
typed() {
	printf '%s\n' "PS1= PS2=; bind 'set enable-bracketed-paste off'; . '$1'" \
		'wrapix() { printf "words:"; printf " <%s>" "$@"; echo; }' "$2"$'\t' 'exit' |
		script -qc 'bash --norc --noprofile -i' /dev/null | tr -d '\r' | sed -n 's/^words: /typed: '"$2"' => /p'
}
typed "$1" 'wrapix run su'
typed "$1" 'wrapix run --mount fi'
