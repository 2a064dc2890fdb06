-- The table of the service `stock`. `labctl up` runs this file when it has changed, so it is
-- written for a database that has some of it already.

CREATE TABLE IF NOT EXISTS public.product (
    sku text PRIMARY KEY,
    title text NOT NULL,
    price numeric(10, 2) NOT NULL,
    in_stock integer NOT NULL CHECK (in_stock >= 0)
);

INSERT INTO public.product (sku, title, price, in_stock) VALUES
    ('cup-blue', 'Cup, blue', 8.90, 120),
    ('cup-white', 'Cup, white', 8.90, 80),
    ('teapot', 'Teapot', 34.00, 15)
ON CONFLICT DO NOTHING;
