import { nameOf } from '../../api/index.ts'
import { harmlessLine } from '../../std/index.ts'
import { wrap } from '../output.ts'
import type { Paint } from '../shell.ts'
import type { HandOverStep } from './hand-over.ts'
import { type Imported, madeOf } from './imported.ts'

/** Says to people what became of everything, what has no match, and how it goes over. */
export function reportOf(imported: readonly Imported[], steps: readonly HandOverStep[], paint: Paint): string {
  const { projects, deployments, sets } = madeOf(imported)
  const lost = imported.filter(({ isLost }) => isLost).length
  const made = (
    [
      [deployments, 'GitOpsDeployment'],
      [sets, 'GitOpsDeploymentSet'],
      [projects, 'GitProject'],
    ] as const
  )
    .filter(([objects, kind]) => objects.length > 0 || kind === 'GitOpsDeployment')
    .map(([objects, kind]) => `${objects.length} ${kind}${ending(objects)}`)
  const head = `${imported.length} object${ending(imported)} read: ${made.join(', ')} made${lost > 0 ? `, and ${lost} of them without a match` : ''}.`
  const plan = steps.flatMap(({ says, commands }, index) => [
    '',
    ...wrap(`${index + 1}. ${says}`),
    ...commands.map((command) => `  $ ${command}`),
  ])
  return [
    ...wrap(head),
    ...imported.flatMap((each) => linesOf(each, paint)),
    '',
    ...(plan.length > 0 ? [paint('bold', 'How it goes over'), ...plan] : wrap(NO_PLAN)),
  ].join('\n')
}

/** Labels and owners, which only a cluster has, say who has applied whom. */
const NO_PLAN =
  'Commands for the hand-over are printed for objects as a cluster has them: give --cluster, or what `kubectl get -o yaml` prints.'

const ending = ({ length }: { length: number }): string => (length === 1 ? '' : 's')

function linesOf({ title, file, made, becomes, isLost, remarks }: Imported, paint: Paint): string[] {
  const [sign, colour] = isLost
    ? (['✗', 'red'] as const)
    : remarks.length > 0
      ? (['~', 'yellow'] as const)
      : (['✓', 'green'] as const)
  const what = becomes ?? made.map(nameOf).join(', ')
  const lines = remarks.flatMap(({ field, says }) =>
    wrap(`${field}: ${says}`, 76).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`),
  )
  return [
    '',
    ...wrap(`${sign} ${title} (${file})${what === '' ? '' : ` → ${what}`}`).map((line) => paint(colour, harmlessLine(line))),
    ...lines,
  ]
}
