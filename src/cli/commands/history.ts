import type { Command } from 'commander'
import type { GitOpsDeployment } from '../../api/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { berth, type DeploymentOptions, titleOf, withDeployment, withDeploymentAtHand } from '../gitops/deployment.ts'
import { examples, withOutput } from '../options.ts'
import { type Format, marked, render } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends DeploymentOptions {
  output: Format
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withOutput(withDeployment(command))
      .description('List the commits of a GitOpsDeployment that were in effect as a whole and healthy, the newest first.')
      .addHelpText(
        'after',
        examples(
          ['berth history shop -n team-a', 'the last ten'],
          ['berth history shop -n team-a -o json | jq -r .[1].revision', 'the one before'],
        ),
      )
      .action(
        finish((name: string, options: Options) =>
          withDeploymentAtHand(shell, name, options, async ({ deployment }) => {
            const rows = rowsOf(deployment)
            if (rows.length === 0) shell.say(`${titleOf(deployment)} has not been in effect as a whole yet.\n`)
            if (rows.length > 0 || options.output !== 'table') shell.print(print(shell, options.output, rows))
            if (rows.length > 1 && options.output === 'table') shell.say(`\nGo back with \`${berth('rollback', deployment)}\`.\n`)
            return exitCodes.ok
          }),
        ),
      )
  },
}

interface Row {
  revision: string
  /** When it was in effect first. */
  at: string
  path: string
  /** Whether it is what the deployment has applied last. */
  current: boolean
}

const rowsOf = ({ spec, status }: GitOpsDeployment): Row[] =>
  (status?.history ?? []).map(({ revision, at, path = spec.source.path }, index) => ({
    revision,
    at,
    path,
    current: index === 0 && revision === status?.sync?.revision,
  }))

const print = ({ paint }: Shell, format: Format, rows: Row[]): string =>
  render(format, rows, [
    { title: 'REVISION', of: ({ revision }) => revision.slice(0, 12) },
    { title: 'IN EFFECT SINCE', of: ({ at }) => at },
    { title: 'NOW', of: ({ current }) => (current ? 'yes' : ''), paint: (_, text) => marked('ok', text, paint) },
    { title: 'PATH', of: ({ path }) => path },
  ])
