import { apiVersionOf, BERTH_NAMESPACE, Workspaces } from '../../api/index.ts'
import { systemClock } from '../../std/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { namespaceOfBerth, sayNames } from '../install/shipped.ts'
import { findLocalPrograms } from '../local/local-programs.ts'
import {
  type ClusterOptions,
  LOCAL,
  namespaceOfContext,
  type OutputOptions,
  withKube,
  withKubeconfig,
  withOutput,
} from '../options.ts'
import { marked, renderData, WIDTH, wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { examineCertificates } from './certificates.ts'
import { examineApi, examinePermissions } from './cluster.ts'
import { type CheckContext, type DoctorFinding, type Examination, examineAnyway, fail, warn } from './finding.ts'
import { examineDefinitions, examineInventory, examinePolicies } from './installation.ts'
import { examineGit, examineKubectl, examineNode } from './machine.ts'
import { examineClasses, examineObjects } from './objects.ts'
import { examineDeployments, examineKas, examineLocalPrograms, examineOperator } from './programs.ts'
import { examineVersions } from './versions.ts'

interface Options extends ClusterOptions, OutputOptions {
  namespace?: string
}

export const verb = actionVerb({
  description:
    'Say what is wrong with a cluster or an installation, and how to mend it. It changes nothing. Warnings do not make it fail.',
  examples: [
    ['berth doctor', 'of the current cluster'],
    ['berth doctor -o json | jq \'.[] | select(.mark != "ok")\'', 'for programs'],
  ],
  options: (command) =>
    withOutput(withKubeconfig(command)).option(
      '--namespace <name>',
      `where the programs of Berth are (default: where they are found, or ${BERTH_NAMESPACE})`,
    ),
  async run(shell, options: Options) {
    const findings = await examine(shell, options)
    shell.print(
      options.output === 'table'
        ? condensed(findings)
            .flatMap((finding) => paragraph(finding, shell.paint))
            .join('\n')
        : renderData(options.output, findings),
    )
    return findings.some(({ mark }) => mark === 'fail') ? exitCodes.unhealthy : exitCodes.ok
  },
})

interface CheckedFinding extends DoctorFinding {
  check: string
}

/** From the ground up; what stands on the API is looked at only when the API answers. */
const EXAMINATIONS: Record<string, Examination> = {
  permissions: examinePermissions,
  crds: examineDefinitions,
  policies: examinePolicies,
  inventory: examineInventory,
  deployments: examineDeployments,
  operator: examineOperator,
  kas: examineKas,
  versions: examineVersions,
  certificates: examineCertificates,
  classes: examineClasses,
  objects: examineObjects,
}

const examine = (shell: Shell, options: Options): Promise<CheckedFinding[]> =>
  withKube(shell, options, async (kube) => {
    // Who does not answer is told by the examination of the API.
    const found = await namespaceOfBerth(kube).catch(() => undefined)
    const context: CheckContext = {
      kube,
      localPrograms: findLocalPrograms(shell, { kubeconfig: options.kubeconfig, local: LOCAL, server: kube.server }),
      home: shell.home,
      namespace: options.namespace ?? found ?? BERTH_NAMESPACE,
      namespaceOfContext: await namespaceOfContext(shell, options),
      now: systemClock.now(),
    }
    const [git, kubectl] = await Promise.all([examineGit(shell), examineKubectl(shell)])
    const api = await examineApi(context)
    const apiAnswers = api.mark !== 'fail'
    const isAbsent = apiAnswers && found === undefined && (await isNowhere(context))
    const examinations = isAbsent ? { installation: examineNothing } : EXAMINATIONS
    const rest = await Promise.all(
      Object.entries(apiAnswers ? examinations : {}).map(
        async ([check, examination]): Promise<[string, DoctorFinding[] | undefined]> => [
          check,
          await examineAnyway(examination, context),
        ],
      ),
    )
    return [
      ...checked('node', examineNode(process.versions.node)),
      ...checked('git', git),
      ...checked('kubectl', kubectl),
      ...checked('api', api),
      ...checked('programs', examineLocalPrograms(context, { apiAnswers })),
      ...rest.flatMap(([check, findings = []]) => checked(check, findings)),
      ...checked('permissions', findingOfUnseen(rest.flatMap(([check, findings]) => (findings ? [] : [check])))),
    ]
  })

/** Whoever only works in a namespace may not read most of an installation: nothing is wrong with that. */
const findingOfUnseen = (checks: readonly string[]): DoctorFinding[] =>
  checks.length === 0
    ? []
    : [
        warn(
          `you may not read what these look at: ${checks.join(', ')}`,
          'If something seems wrong there, ask an administrator of the cluster to run the doctor.',
        ),
      ]

/** Neither kinds nor programs are there. */
const isNowhere = async ({ kube, localPrograms }: CheckContext): Promise<boolean> =>
  localPrograms === undefined &&
  (await kube.resolve(apiVersionOf(Workspaces), Workspaces.kind).then(
    (kind) => kind === undefined,
    () => false,
  ))

/** Fifty findings about what is missing would say no more. */
const examineNothing: Examination = async ({ kube }) =>
  fail(
    `Berth is not installed in the cluster at ${kube.server}`,
    'Run `berth install --apply` with an image; docs/installation.md says how.',
  )

const checked = (check: string, findings: DoctorFinding | DoctorFinding[]): CheckedFinding[] =>
  [findings].flat().map((finding) => ({ check, ...finding }))

/** People read so many of one kind with one reason in whole. */
const MOST_ALIKE = 3

/** The others of that kind and reason are named, and counted: nothing is left out unsaid. */
function condensed(findings: readonly CheckedFinding[]): CheckedFinding[] {
  const groups = Map.groupBy(findings, (finding) =>
    finding.object ? `${finding.object.kind} ${finding.object.reason}` : finding,
  )
  return [...groups.values()].flatMap((alike) => {
    const rest = alike.slice(MOST_ALIKE)
    const [first] = rest
    if (!first?.object || rest.length === 1) return alike
    const { kind, reason } = first.object
    const names = sayNames(rest.map(({ object }) => object?.name ?? ''))
    const others = warn(
      `${rest.length} more of kind ${kind} (${reason}): ${names}`,
      '`berth doctor -o json` tells of each of them.',
    )
    return [...alike.slice(0, MOST_ALIKE), ...checked(first.check, others)]
  })
}

const INDENT = 19

function paragraph({ check, mark, message, remedy }: CheckedFinding, paint: Shell['paint']): string[] {
  const [first = '', ...more] = wrap(message, WIDTH - INDENT)
  const cure = remedy ? wrap(`-> ${remedy}`, WIDTH - INDENT) : []
  const indented = [...more, ...cure].map((line) => ' '.repeat(INDENT) + line)
  return [`${marked(mark, mark.padEnd(5), paint)} ${check.padEnd(13)}${first}`, ...indented]
}
