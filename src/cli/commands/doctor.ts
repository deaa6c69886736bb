import type { Command } from 'commander'
import { BERTH_NAMESPACE } from '../../api/index.ts'
import { systemClock } from '../../std/index.ts'
import { examineApi, examinePermissions } from '../doctor/cluster.ts'
import { type Examination, type Finding, guarded, type Patient } from '../doctor/finding.ts'
import { examineDefinitions, examinePolicies } from '../doctor/installation.ts'
import { examineMachine } from '../doctor/machine.ts'
import { examineClasses, examineObjects } from '../doctor/objects.ts'
import { examineBeside, examineKas, examineOperator } from '../doctor/programs.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { foundBeside } from '../local/beside.ts'
import { type ClusterOptions, examples, kubeOf, LOCAL, withKubeconfig, withOutput } from '../options.ts'
import { type Format, marked, renderData, WIDTH, wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends ClusterOptions {
  output: Format
  namespace: string
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withOutput(withKubeconfig(command))
      .description(
        'Say what is wrong with a cluster or an installation, and how to mend it. It changes nothing. Warnings do not make it fail.',
      )
      .option('--namespace <name>', 'where the programs of Berth keep their Leases', BERTH_NAMESPACE)
      .addHelpText(
        'after',
        examples(
          ['berth doctor', 'of the current cluster'],
          ['berth doctor -o json | jq \'.[] | select(.mark != "ok")\'', 'for programs'],
        ),
      )
      .action(
        finish(async (options: Options): Promise<ExitCode> => {
          const findings = await examine(shell, options)
          shell.print(options.output === 'table' ? letter(shell, findings) : renderData(options.output, findings))
          return findings.some(({ mark }) => mark === 'fail') ? exitCodes.unhealthy : exitCodes.ok
        }),
      )
  },
}

/** From the ground up; what stands on the API is looked at only when the API answers. */
const EXAMINATIONS: readonly Examination[] = [
  guarded('permissions', examinePermissions),
  guarded('crds', examineDefinitions),
  guarded('policies', examinePolicies),
  guarded('operator', examineOperator),
  guarded('kas', examineKas),
  guarded('classes', examineClasses),
  guarded('objects', examineObjects),
]

async function examine(shell: Shell, options: Options): Promise<Finding[]> {
  const machine = await examineMachine(shell, process.versions.node)
  const kube = await kubeOf(shell, options)
  const patient: Patient = {
    kube,
    beside: foundBeside(shell, { kubeconfig: options.kubeconfig, local: LOCAL, server: kube.server }),
    home: shell.home,
    namespace: options.namespace,
    now: systemClock.now(),
  }
  try {
    const api = await examineApi(patient)
    const apiAnswers = api.every(({ mark }) => mark !== 'fail')
    const ground = [...machine, ...api, ...examineBeside(patient, { apiAnswers })]
    if (!apiAnswers) return ground
    const rest = await Promise.all(EXAMINATIONS.map((examination) => examination(patient)))
    return [...ground, ...rest.flat()]
  } finally {
    await patient.kube.close()
  }
}

const INDENT = 19

function letter({ paint }: Shell, findings: Finding[]): string {
  return findings.flatMap((finding) => paragraph(finding, paint)).join('\n')
}

function paragraph({ check, mark, message, remedy }: Finding, paint: Shell['paint']): string[] {
  const [first = '', ...more] = wrap(message, WIDTH - INDENT)
  const cure = remedy ? wrap(`-> ${remedy}`, WIDTH - INDENT) : []
  const indented = [...more, ...cure].map((line) => ' '.repeat(INDENT) + line)
  return [`${marked(mark, mark.padEnd(5), paint)} ${check.padEnd(13)}${first}`, ...indented]
}
