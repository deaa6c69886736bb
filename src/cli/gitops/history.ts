import { type GitOpsDeployment, nameOf, sourcePath } from '../../api/index.ts'
import { beginningOf } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withOutput } from '../options.ts'
import { marked, render } from '../output.ts'
import { actionVerb } from '../verb.ts'
import { commandFor, type DeploymentContext, onDeployment, withDeployment } from './deployment.ts'

export const verb = actionVerb({
  description: 'List the commits of a GitOpsDeployment that were in effect as a whole and healthy, the newest first.',
  examples: [
    ['berth history shop -n team-a', 'the last ten'],
    ['berth history shop -n team-a -o json | jq -r .[1].revision', 'the one before'],
  ],
  options: (command) => withOutput(withDeployment(command)),
  run: onDeployment(history),
})

async function history({ shell, deployment }: DeploymentContext, { output }: ObjectOptions & OutputOptions): Promise<void> {
  const rows = rowsOf(deployment)
  const columns = [
    { title: 'REVISION', of: ({ revision }: Row) => revision.slice(0, 12) },
    { title: 'IN EFFECT SINCE', of: ({ at }: Row) => at },
    {
      title: 'NOW',
      of: ({ current }: Row) => (current ? 'yes' : ''),
      paint: (_: Row, text: string) => marked('ok', text, shell.paint),
    },
    { title: 'PATH', of: ({ path }: Row) => path },
    ...(rows.some(({ subject }) => subject) ? [SUBJECT] : []),
  ]
  if (rows.length === 0) shell.say(`${nameOf(deployment)} has not been in effect as a whole yet.\n`)
  if (rows.length > 0 || output !== 'table') shell.print(render(output, rows, columns))
  if (rows.length > 1 && output === 'table') shell.say(`\nGo back with \`${commandFor('rollback', deployment)}\`.\n`)
}

/** A line of its own in a terminal. */
const MOST_OF_SUBJECT = 72

const SUBJECT = { title: 'SUBJECT', of: ({ subject = '' }: Row) => beginningOf(subject, MOST_OF_SUBJECT) }

type Row = ReturnType<typeof rowsOf>[number]

/** `at` is when it was in effect first, `current` whether the deployment has applied it last. */
const rowsOf = ({ spec, status }: GitOpsDeployment) =>
  (status?.history ?? []).map(({ revision, at, path = sourcePath(spec.source), subject }, index) => ({
    revision,
    at,
    path,
    subject,
    current: index === 0 && revision === status?.sync?.revision,
  }))
