import { Failure, type Setting, type SettingTable } from '../../std/index.ts'
import type { InstallValues } from './generated/values.ts'

/** Where it stands in the values, and a sentence about it. */
export interface ValueMistake {
  steps: readonly string[]
  told: string
}

type ProgramName = keyof NonNullable<InstallValues['programs']>

/** Loaded only where values name variables: they are whole programs. */
const PROGRAMS: readonly [ProgramName, () => Promise<{ SETTINGS: SettingTable }>][] = [
  ['operator', () => import('../../operator/index.ts')],
  ['kas', () => import('../../kas/index.ts')],
  ['proxy', () => import('../../proxy/index.ts')],
  ['certificates', () => import('../../certificates/index.ts')],
]

/** Variables of Berth that the programs would overlook, or end because of. What is not called BERTH_ is for the libraries in them. */
export async function mistakesInVariables({ programs }: InstallValues): Promise<ValueMistake[]> {
  const lists = PROGRAMS.map(async ([program, load]) => {
    const given = Object.entries(programs?.[program]?.env ?? {}).filter(([name]) => name.startsWith('BERTH_'))
    if (given.length === 0) return []
    const settings = Object.values((await load()).SETTINGS)
    return given.flatMap(([name, value]) => {
      const setting = settings.find(({ variable }) => variable === name)
      const steps = ['programs', program, 'env', name]
      const wrong = setting ? whyNot(setting, value) : `is no setting of ${program}; docs/configuration.md has a list of them`
      return wrong === undefined ? [] : [{ steps, told: `${steps.join('.')} ${wrong}` }]
    })
  })
  return (await Promise.all(lists)).flat()
}

function whyNot(setting: Setting<unknown>, value: string): string | undefined {
  try {
    setting.read(value)
    return undefined
  } catch (thrown) {
    // What was given may be a secret that is in the wrong place.
    return `is ***. ${Failure.from(thrown).remedy ?? setting.text}`
  }
}
