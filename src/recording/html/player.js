'use strict';
(() => {
  const data = JSON.parse(document.getElementById('recording').textContent);
  const find = (id) => document.getElementById(id);
  const [screen, play, seek, time, speed, chapters] = ['screen', 'play', 'seek', 'time', 'speed', 'chapters'].map(find);
  const SVG = 'http://www.w3.org/2000/svg';
  const [BOLD, ITALIC, UNDERLINED, DIM, SHAPE] = [1, 2, 4, 8, 16];
  const [cellWidth, cellHeight] = data.cell;

  // Each frame lists the rows that differ from the frame before.
  const frames = [];
  let rows = new Array(data.rows).fill(-1);
  for (const [at, cursor, changes] of data.frames) {
    rows = rows.slice();
    for (let index = 0; index < changes.length; index += 2) rows[changes[index]] = changes[index + 1];
    frames.push({ at, cursor, rows });
  }

  const main = document.querySelector('main');
  main.style.background = data.background;
  main.style.color = data.text;
  const isBare = document.body.className === 'bare';
  if (isBare) document.body.style.background = data.background;
  if (data.padding !== null) screen.style.padding = `${data.padding}px`;
  const lines = [];
  for (let row = 0; row < data.rows; row += 1) {
    const line = document.createElement('div');
    line.className = 'line';
    line.style.width = `${data.columns}ch`;
    screen.append(line);
    lines.push({ element: line, shown: -1 });
  }
  const cursor = document.createElement('div');
  cursor.className = 'cursor';
  cursor.style.background = data.text;

  function makePiece([column, width, text, style]) {
    const [colour, background, flags] = data.styles[style];
    const piece = document.createElement('span');
    piece.textContent = text;
    piece.style.width = `${width}ch`;
    piece.style.color = flags & SHAPE ? 'transparent' : colour;
    if (background) piece.style.background = background;
    if (flags & BOLD) piece.style.fontWeight = 'bold';
    if (flags & ITALIC) piece.style.fontStyle = 'italic';
    if (flags & UNDERLINED) piece.style.textDecoration = `underline ${colour}`;
    if (flags & DIM && !background) piece.style.opacity = '.6';
    return piece;
  }

  function makeShapes(shapes) {
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', `0 0 ${data.columns * cellWidth} ${cellHeight}`);
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('aria-hidden', 'true');
    svg.style.width = `${data.columns}ch`;
    for (const [path, colour, isFilled, opacity] of shapes) {
      const shape = document.createElementNS(SVG, 'path');
      shape.setAttribute('d', path);
      shape.setAttribute('fill', isFilled ? colour : 'none');
      if (isFilled) shape.setAttribute('shape-rendering', 'crispEdges');
      else shape.setAttribute('stroke', colour);
      if (opacity < 1) shape.setAttribute('opacity', String(opacity));
      svg.append(shape);
    }
    return svg;
  }

  function drawLine(line, id) {
    if (line.shown === id) return;
    line.shown = id;
    const [pieces, shapes] = id < 0 ? [[], []] : data.lines[id];
    const nodes = [];
    let column = 0;
    for (const piece of pieces) {
      if (piece[0] > column) {
        const gap = document.createElement('span');
        gap.textContent = ' '.repeat(piece[0] - column);
        gap.style.width = `${piece[0] - column}ch`;
        nodes.push(gap);
      }
      nodes.push(makePiece(piece));
      column = piece[0] + piece[1];
    }
    // Without any text, a copied selection would lose the line.
    if (nodes.length === 0) nodes.push(document.createTextNode(' '));
    if (shapes.length > 0) nodes.push(makeShapes(shapes));
    line.element.replaceChildren(...nodes);
  }

  let position = 0;
  let isPlaying = false;
  let shownFrame = -1;
  let lastTick = 0;
  let shownChapter = -2;

  const frameAt = (at) => {
    let [low, high] = [0, frames.length];
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (frames[middle].at <= at) low = middle;
      else high = middle;
    }
    return low;
  };
  const lastIndex = (list, at) => list.reduce((found, [start], index) => (start <= at ? index : found), -1);
  const formatTime = (millis) => {
    const seconds = Math.floor(millis / 1000);
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    const digits = (number) => String(number).padStart(2, '0');
    return `${hours > 0 ? `${hours}:${digits(minutes)}` : minutes}:${digits(seconds % 60)}`;
  };

  function show() {
    const index = frameAt(position);
    if (index !== shownFrame) {
      shownFrame = index;
      const frame = frames[index];
      lines.forEach((line, row) => drawLine(line, frame.rows[row]));
      cursor.remove();
      if (frame.cursor && lines[frame.cursor[1]]) {
        cursor.style.left = `${frame.cursor[0]}ch`;
        lines[frame.cursor[1]].element.append(cursor);
        // The next frame draws this line again, without the cursor.
        lines[frame.cursor[1]].shown = -2;
      }
    }
    seek.value = String(position);
    time.textContent = `${formatTime(position)} / ${formatTime(data.duration)}`;
    const chapter = lastIndex(data.chapters, position);
    if (chapter !== shownChapter) {
      shownChapter = chapter;
      chapters.value = String(chapter);
    }
    play.textContent = isPlaying ? 'Pause' : 'Play';
  }

  function tick(now) {
    if (!isPlaying) return;
    position = Math.min(position + (now - lastTick) * Number(speed.value), data.duration);
    lastTick = now;
    if (position >= data.duration) isPlaying = false;
    show();
    if (isPlaying) requestAnimationFrame(tick);
  }

  function setPlaying(value) {
    if (value === isPlaying) return;
    isPlaying = value;
    if (value) {
      if (position >= data.duration) position = 0;
      lastTick = performance.now();
      requestAnimationFrame(tick);
    }
    show();
  }

  function goTo(at) {
    position = Math.min(Math.max(at, 0), data.duration);
    show();
  }

  function step(count) {
    setPlaying(false);
    goTo(frames[Math.min(Math.max(shownFrame + count, 0), frames.length - 1)].at);
  }

  function goToChapter(count) {
    // Going back within the first second of a chapter means the one before.
    const current = lastIndex(data.chapters, count < 0 ? position - 1000 : position);
    const target = data.chapters[count < 0 ? current : current + 1];
    if (target) goTo(target[0]);
    else if (count < 0) goTo(0);
  }

  function changeSpeed(count) {
    speed.selectedIndex = Math.min(Math.max(speed.selectedIndex + count, 0), speed.options.length - 1);
  }

  const keys = {
    ' ': () => setPlaying(!isPlaying),
    ArrowLeft: () => goTo(position - 5000),
    ArrowRight: () => goTo(position + 5000),
    Home: () => goTo(0),
    End: () => goTo(data.duration),
    '.': () => step(1),
    ',': () => step(-1),
    '+': () => changeSpeed(1),
    '=': () => changeSpeed(1),
    '-': () => changeSpeed(-1),
    '[': () => goToChapter(-1),
    ']': () => goToChapter(1),
    PageUp: () => goToChapter(-1),
    PageDown: () => goToChapter(1),
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target instanceof HTMLSelectElement) return;
    if (event.target instanceof HTMLButtonElement && event.key === ' ') return;
    const isDigit = /^[0-9]$/.test(event.key);
    const action = isDigit ? () => goTo((data.duration * Number(event.key)) / 10) : keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  play.addEventListener('click', () => setPlaying(!isPlaying));
  seek.max = String(data.duration);
  seek.addEventListener('input', () => goTo(Number(seek.value)));
  for (const [index, [at, name]] of data.chapters.entries()) {
    const option = document.createElement('option');
    option.value = String(index);
    option.textContent = `${formatTime(at)} ${name}`;
    chapters.append(option);
  }
  chapters.hidden = data.chapters.length === 0;
  chapters.addEventListener('change', () => {
    const chapter = data.chapters[Number(chapters.value)];
    goTo(chapter ? chapter[0] : 0);
  });

  // The font becomes smaller if the page is too narrow.
  function fit() {
    screen.style.fontSize = '14px';
    const needed = lines[0].element.offsetWidth + 2 * (data.padding ?? 14);
    const available = document.documentElement.clientWidth - (isBare ? 0 : 32);
    if (needed > available) screen.style.fontSize = `${Math.max(6, (14 * available) / needed)}px`;
  }
  addEventListener('resize', fit);
  fit();
  show();
  setPlaying(!matchMedia('(prefers-reduced-motion: reduce)').matches);
})();
