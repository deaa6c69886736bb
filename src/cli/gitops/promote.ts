import {
  type GitOpsDeployment,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  nameOf,
  type PromotionLink,
  promotionChainOf,
  promotionRowOf,
  syncRunOf,
} from '../../api/index.ts'
import { beginningOf, Failure, harmlessLine, seconds } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type OutputOptions, withOutput } from '../options.ts'
import { renderData, table, wrap } from '../output.ts'
import { isYes, type Paint, plain } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import {
  commandFor,
  type DeploymentContext,
  onDeployment,
  refuseSuspended,
  type WaitOptions,
  withDeployment,
  withWait,
} from './deployment.ts'
import { describeDryRun, isChange, showDryRun } from './diff.ts'
import { dryRun, waitUntilApplied } from './sync-run.ts'

interface Options extends WaitOptions, OutputOptions {
  to?: string
  revision?: string
  approve?: boolean
}

export const verb = actionVerb({
  description:
    'Show the chain in which GitOpsDeployments take commits from one another (spec.source.follow), what the next commit would do in one of them, and let it happen. What was approved, by whom, and what a dry run had shown stands in a GitOpsDeploymentSyncRun. Go back with `berth rollback`: what was left is not taken again by itself.',
  examples: [
    ['berth promote shop-dev --to production -n team-a', 'what the commit would do there'],
    ['berth promote shop-prod -n team-a --approve --wait', 'take the next commit of the one before'],
    ['berth promote shop-prod -n team-a --revision 3f2a91c…', 'another one, though nothing offers it'],
  ],
  options: (command) =>
    withOutput(
      withWait(
        withDeployment(command)
          .option('--to <name>', 'the deployment that takes it, or its environment; else the one that is named is it')
          .option('--revision <revision>', 'a whole commit, branch or tag; else the one that waits')
          .option('--approve', 'let it happen, without a question'),
      ),
    ),
  run: onDeployment(promote),
})

async function promote(context: DeploymentContext, options: Options): Promise<ExitCode> {
  const { shell, kube } = context
  const all = await kube.list(GitOpsDeployments, { namespace: context.deployment.metadata.namespace ?? '' })
  const deployment = takerOf(context.deployment, all, options.to)
  const links = promotionChainOf(deployment, all)
  if (options.output !== 'table') {
    if (options.approve) throw new Failure('invalid', '-o prints the chain and changes nothing; leave it out, or --approve.')
    shell.print(renderData(options.output, links.map(promotionRowOf)))
    return exitCodes.ok
  }
  shell.print(pictureOf(links, deployment, shell.paint))
  const revision = options.revision ?? offeredTo(deployment)
  if (revision === undefined) {
    shell.say(`\nNothing waits to be promoted to ${nameOf(deployment)}.\n`)
    return exitCodes.ok
  }
  refuseSuspended(deployment)
  shell.print('')
  return approve({ ...context, deployment }, revision, options)
}

/** Shows what it would do; then it happens, if that is wanted. */
async function approve(context: DeploymentContext, asked: string, options: Options): Promise<ExitCode> {
  const { shell, kube, deployment } = context
  const within = seconds(options.timeout)
  const run = await dryRun(context, asked, within)
  const code = showDryRun(context, run, { output: 'table' })
  const { revision = asked, dryRun: seen } = run.status ?? {}
  if (code !== exitCodes.ok || !seen) return code
  if (revision === deployment.status?.sync?.revision && !isChange(seen)) {
    shell.say('\nThat commit is in effect already.\n')
    return exitCodes.ok
  }
  if (!options.approve && !(await isMeant(context, revision))) return exitCodes.ok
  const approval = {
    from: deployment.status?.sync?.revision ?? '',
    generation: deployment.metadata.generation ?? 0,
    seen: beginningOf(describeDryRun(nameOf(deployment), revision, seen, plain), MOST_SEEN),
  }
  const promotion = syncRunOf(deployment, 'promote', { revisionID: revision, approval })
  const made = await kube.create(GitOpsDeploymentSyncRuns, promotion)
  shell.say(`\n${nameOf(deployment)} takes ${revision}, by GitOpsDeploymentSyncRun ${made.metadata.name}.\n`)
  return options.wait ? waitUntilApplied(context, made, within) : exitCodes.ok
}

/** The schema takes 16,384 characters. */
const MOST_SEEN = 16_000

async function isMeant({ shell, deployment }: DeploymentContext, revision: string): Promise<boolean> {
  const answer = await shell.ask('\nTake it? [y/N] ')
  if (answer === undefined) shell.say(`\nTo take it: ${commandFor('promote', deployment)} --revision ${revision} --approve\n`)
  return isYes(answer)
}

/** Pure. The deployment that is to take a commit: the one that is named, or else of those that take from it the one of `to`. */
export function takerOf(
  deployment: GitOpsDeployment,
  all: readonly GitOpsDeployment[],
  to: string | undefined,
): GitOpsDeployment {
  const followers = all.filter(({ spec }) => spec.source.follow?.deployment === deployment.metadata.name)
  const known = followers.map(({ metadata }) => metadata.name).join(', ')
  if (to === undefined) {
    if (deployment.spec.source.follow) return deployment
    throw new Failure('invalid', `${nameOf(deployment)} takes commits from no other one.`, {
      remedy: known
        ? `Name with --to which one is to take its commit: ${known}.`
        : 'Write spec.source.follow into the one that is to.',
    })
  }
  const meant = followers.filter(({ metadata, spec }) => metadata.name === to || spec.destination?.environment === to)
  const [only] = meant
  if (only && meant.length === 1) return only
  throw new Failure(
    meant.length > 1 ? 'invalid' : 'not-found',
    `${meant.length > 1 ? 'several' : 'no'} GitOpsDeployments of ${to} take the commits of ${nameOf(deployment)}.`,
    { remedy: known ? `Name one of ${known}.` : 'Write spec.source.follow into the one that is to.' },
  )
}

/** Waits that end by themselves: whoever does not want to wait says which commit it is. */
const UNFIT = ['DependencyNotReady', 'HealthyTooShort']

/** The commit that a person may let in, without naming it. */
function offeredTo(deployment: GitOpsDeployment): string | undefined {
  const { next } = deployment.status?.promotion ?? {}
  if (!next) return undefined
  if (next.revision !== undefined && !UNFIT.includes(next.reason)) return next.revision
  throw new Failure('conflict', harmlessLine(`${nameOf(deployment)} has nothing to take yet. ${next.reason}: ${next.message}`), {
    ...(next.revision !== undefined && { remedy: `To take it all the same, say --revision ${next.revision}.` }),
  })
}

/** The chain, with the deployment that is asked about in colour. */
function pictureOf(links: readonly PromotionLink[], deployment: GitOpsDeployment, paint: Paint): string {
  const rows = links.map(promotionRowOf)
  const columns = [
    {
      title: 'DEPLOYMENT',
      of: ({ depth, name }: Row) => `${'  '.repeat(Math.max(depth - 1, 0))}${depth > 0 ? '└─ ' : ''}${name}`,
      paint: ({ name }: Row, text: string) => (name === deployment.metadata.name ? paint('bold', text) : text),
    },
    { title: 'COMMIT', of: ({ revision }: Row) => revision.slice(0, 12) },
    { title: 'STATE', of: ({ state }: Row) => state },
    { title: 'PROMOTED', of: ({ since = '', by }: Row) => (by === undefined ? since : `${since} by ${by}`) },
  ]
  const waiting = rows.flatMap(({ name, next }) => (next ? wrap(`${name}: ${next.reason}: ${next.message}`) : []))
  return [table(rows, columns), ...(waiting.length > 0 ? ['', ...waiting] : [])].join('\n')
}

type Row = ReturnType<typeof promotionRowOf>
