import { Option } from 'commander'
import { definitionsIn } from './manifests.ts'
import type { OutputOptions } from './options.ts'
import { FORMATS, type OutputFormat, render, renderData } from './output.ts'
import { actionVerb } from './verb.ts'

export const verb = actionVerb({
  examples: [
    ['berth crds | kubectl apply --server-side -f -', 'install them'],
    ['berth crds -o table', 'list them'],
  ],
  options: (command) => command.addOption(new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('yaml')),
  run: async (shell, { output }: OutputOptions) => shell.print(printed(output, definitionsIn(shell.home))),
})

function printed(output: OutputFormat, found: ReturnType<typeof definitionsIn>): string {
  const definitions = found.map(({ definition }) => definition)
  // The files as they are: their comments are worth reading.
  if (output === 'yaml') return found.map(({ text }) => text).join('\n---\n')
  if (output === 'json') return renderData('json', { apiVersion: 'v1', kind: 'List', items: definitions })
  return render('table', definitions, [
    { title: 'KIND', of: ({ spec }) => spec.names.kind },
    { title: 'SHORT', of: ({ spec }) => spec.names.shortNames?.join(',') ?? '' },
    { title: 'GROUP', of: ({ spec }) => spec.group },
  ])
}
