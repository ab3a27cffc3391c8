# SPDX-License-Identifier: MIT
# Types lines and a tab at a real zsh that has the script $1; prints "LINE => WORDS" for each.
zmodload zsh/zpty || exit 1
mkdir -p $HOME/fpath && cp $1 $HOME/fpath/_wrapix || exit 1
export WRAPIX_COMPLETION_TEST=1

zpty -b shell 'TERM=dumb zsh -f -i' || exit 1
zpty -w shell "PS1= PS2=; unsetopt zle_bracketed_paste 2>/dev/null; fpath=($HOME/fpath \$fpath)"
zpty -w shell 'autoload -Uz compinit; compinit -u -D; zstyle ":completion:*" list-prompt ""'
zpty -w shell 'wrapix() { print -rn -- "words: "; print -rn -- "<"${^@}">"; echo " end" }; srt() { wrapix "$@" }; echo comp:$_comps[wrapix]'
zpty -r shell got '*comp:_wrapix*' || exit 1

ask() {
	zpty -w -n shell "$1"$'\t\n'
	zpty -r shell got '*words: *end*' || exit 1
	got=${got##*words: }
	print -r -- "$1 => ${got%% end*}"
}
ask 'wrapix vers'
ask 'wrapix --vers'
ask 'wrapix run --netw'
ask 'wrapix run --network n'
ask 'wrapix run --network=n'
ask 'wrapix run -v --home k'
ask 'wrapix run --profile ru'
ask 'wrapix run --env WRAPIX_COMPLETION_T'
ask 'wrapix run su'
ask 'wrapix run . -- --netw'
ask 'wrapix run . -- wrapixpro'
ask 'wrapix plan --js'
ask 'wrapix stop al'
ask 'wrapix stop alpha be'
ask 'wrapix help tr'
ask 'wrapix completion f'
ask 'wrapix image unp'
ask 'wrapix image build ru'
ask 'wrapix image build --packa'
ask 'wrapix image build --compression z'
ask 'wrapix image show al'
ask 'wrapix key sh'
ask 'wrapix key show sh'
ask 'wrapix profile show ru'
ask 'wrapix git held be'
ask 'srt --viol'
zpty -d shell
