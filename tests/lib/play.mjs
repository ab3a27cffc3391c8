// SPDX-License-Identifier: MIT
// What a scripted model does next, whoever asks and over whichever API. The script is in the prompt itself, as for
// tests/lib/ralph-agent: 'sh: COMMAND' is a use of the shell, 'end: TEXT' the last line, 'big: N' that many letters before
// it, 'hang:' no answer at all, 'full: N' so many tokens that the agent has read; 'sh1:', 'end2:' and so on are for the first
// try or a later one. 'others' has such a script for each heading of a prompt that has none. Who is asked to sum up a session
// says what stood behind 'sum:'.
export function play(text, results, others) {
	const script = Object.entries(others).find(([heading]) => text.includes(`# ${heading}`))?.[1] ?? text;
	const attempt = text.includes('## The last try') ? '2' : '1';
	const said = [...script.matchAll(/^(sh|end|big|hang|full|sum)([12]?): ?(.*)$/gm)]
		.filter(([, , when]) => !when || when === attempt);
	const commands = said.filter(([, what]) => what === 'sh').map(([, , , command]) => command);
	const one = (what) => said.findLast((line) => line[1] === what)?.[3];

	if (/create a detailed summary of/i.test(text))
		return { text: `<summary>\n${one('sum')}\n</summary>` };
	if (results < commands.length)
		return { command: commands[results], tokens: Number(one('full') ?? 0) };
	if (one('hang') !== undefined)
		return {};
	return { text: `${'x'.repeat(Number(one('big') ?? 0))}I am done.\n${one('end') ?? 'RALPH_COMPLETE'}` };
}
