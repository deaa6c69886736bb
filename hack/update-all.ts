/** Runs every hack/update-*.ts: everything that is generated is generated anew. */
import { runScripts } from './scripts.ts'

process.exitCode = await runScripts('update')
