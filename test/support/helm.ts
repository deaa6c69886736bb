import { join } from 'node:path'
import { buildGo, lacksGo } from './go-program.ts'

const SOURCE = join(import.meta.dirname, '..', '..', 'hack', 'image', 'renderers')

/** What the image of Berth has of Helm: it is whichever it is called. */
export const helm = (): Promise<string> => buildGo(SOURCE, { name: 'helm', package: '.' })

/** The whole program of the same version, as people have it. */
export const wholeHelm = (): Promise<string> => buildGo(SOURCE, { name: 'whole-helm', package: 'helm.sh/helm/v4/cmd/helm' })

/** Why the tests with it are left out. */
export const lacksHelm = (): Promise<string | undefined> => lacksGo(SOURCE)
