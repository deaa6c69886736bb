/** Packs Berth into dist/, with which nothing of an earlier build stays: `npm run build`, and before each `npm pack`. */
import { join } from 'node:path'
import { bundle } from './bundle.ts'

const REPOSITORY = join(import.meta.dirname, '..')

await bundle(REPOSITORY, join(REPOSITORY, 'dist'))
