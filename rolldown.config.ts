import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'rolldown'

const undici = fileURLToPath(new URL('node_modules/undici/lib', import.meta.url))

/** What we use of undici. Its index also loads fetch, caches, mocks and WebSockets, which an agent need not keep. */
const undiciInUse = `
  import Dispatcher from ${JSON.stringify(`${undici}/dispatcher/dispatcher.js`)}
  import request from ${JSON.stringify(`${undici}/api/api-request.js`)}
  export { default as Pool } from ${JSON.stringify(`${undici}/dispatcher/pool.js`)}
  export { default as ProxyAgent } from ${JSON.stringify(`${undici}/dispatcher/proxy-agent.js`)}
  Dispatcher.prototype.request = request
`

const onlyUndiciInUse: Plugin = {
  name: 'only-undici-in-use',
  resolveId: (source) => (source === 'undici' ? '\0undici' : undefined),
  load: (id) => (id === '\0undici' ? undiciInUse : undefined),
}

// A folder with nothing to install beside it. Each role is a file of its own, so that an agent keeps no simulator in memory, and
// minified, because source text stays there. `node --enable-source-maps` gives the stack traces their own lines back.
export default defineConfig({
  input: 'src/main/slipway.ts',
  platform: 'node',
  external: /^node:/,
  plugins: [onlyUndiciInUse],
  output: {
    dir: 'dist',
    cleanDir: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    format: 'esm',
    sourcemap: true,
    minify: true,
    banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
  },
})
