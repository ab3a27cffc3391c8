# SPDX-License-Identifier: MIT
# Completes lines with the script $argv[1]; prints "LINE => CANDIDATES" for each.
source $argv[1]; or exit 1

function ask
	string join -- ' ' $argv[1] '=>' (complete -C $argv[1] | string replace -r '\t.*' '')
end
set -gx WRAPIX_COMPLETION_TEST 1
ask 'wrapix r'
ask 'wrapix --v'
ask 'wrapix run --net'
ask 'wrapix run --network '
ask 'wrapix run --network=n'
ask 'wrapix run -v --home k'
ask 'wrapix run --profile ru'
ask 'wrapix run --env WRAPIX_COMPLETION_T'
ask 'wrapix run su'
ask 'wrapix run . -- wrapixpro'
ask 'wrapix run . -- --netw'
ask 'wrapix plan --js'
ask 'wrapix stop '
ask 'wrapix help tr'
ask 'wrapix completion '
ask 'wrapix image '
ask 'wrapix image build '
ask 'wrapix image build --from'
ask 'wrapix image build --compression z'
ask 'wrapix image show '
ask 'wrapix key '
ask 'wrapix key list '
ask 'wrapix profile show ru'
ask 'wrapix git held '
ask 'srt --viol'
